// Making and freeing blocks of shared virtual memory.
#include <memory>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/svm.h"
#include "optimizer-rt/client/transfer/shared_pages.h"

namespace gt::virt::fn {

void* clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  check(context);
  constexpr cl_svm_mem_flags Access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  const auto access = flags & Access, fine = flags & CL_MEM_SVM_FINE_GRAIN_BUFFER;
  require((flags & ~(Access | fine)) == 0 && (access & (access - 1)) == 0, CL_INVALID_VALUE);  // no atomics
  require(size != 0 && (alignment & (alignment - 1)) == 0, CL_INVALID_VALUE);
  for (const Ref<_cl_device_id>& d : context->devices) {
    require(size <= d->number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE, ~cl_ulong{0}), CL_INVALID_VALUE);
    require(!fine || has_fine_svm(*d), CL_INVALID_VALUE);
  }
  require(context->has_svm(), CL_INVALID_OPERATION);
  SubContext& sub_context = *context->sub_contexts[0];
  const cl_svm_mem_flags wanted = (access ? access : CL_MEM_READ_WRITE) | fine;
  const auto give = [&](ObjectId name, uint64_t bytes) {
    const Bytes outputs = sub_context.session.ask<api::FnId::clSVMAlloc>({name}, as<cl_context>(sub_context.name),
                                                                         wanted, size_t{bytes}, alignment);
    return answer_of(api::FnId::clSVMAlloc, outputs).number(api::DecodedReturn);
  };
  const auto keep = [&](ObjectId name, uint64_t native, uint64_t base, size_t bytes) {
    return keep_in_step(sub_context, Used::BesideCommands, name, native, base, bytes);
  };
  const std::shared_ptr<SvmBlock> block =
      make_block(sub_context, size, give, {}, fine ? KeepInStep(keep) : KeepInStep());
  require(block != nullptr, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  context->svm.add(block);
  return block->base;
}

void clSVMFree(cl_context context, void* pointer) {
  check(context);
  if (const auto block = context->svm.remove(pointer)) block->give_back();
}

}  // namespace gt::virt::fn
