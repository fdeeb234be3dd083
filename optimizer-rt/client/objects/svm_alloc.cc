// Making and freeing blocks of shared virtual memory.
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/svm.h"

namespace gt::virt {
namespace {

struct Asked {
  cl_svm_mem_flags flags;
  size_t bytes;
  cl_uint alignment;
};

// The driver's address; 0: it refuses.
uint64_t allocate_there(SubContext& sub_context, ObjectId name, const Asked& asked) {
  const Bytes outputs = sub_context.session.ask<api::FnId::clSVMAlloc>({name}, as<cl_context>(sub_context.name),
                                                                       asked.flags, asked.bytes, asked.alignment);
  return answer_of(api::FnId::clSVMAlloc, outputs).number(api::DecodedReturn);
}

// Whole pages are asked for: only they can be had at an address.
std::shared_ptr<SvmBlock> allocate_with_shadow(SubContext& sub_context, const Asked& asked) {
  constexpr int Tries = 8;
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t bytes = (asked.bytes + page - 1) / page * page;
  std::vector<std::unique_ptr<SvmBlock>> taken;  // stay the driver's until it has given another address
  std::shared_ptr<SvmBlock> found;
  for (int i = 0; i < Tries && !found; ++i) {
    const ObjectId name = sub_context.session.new_id();
    const uint64_t native = allocate_there(sub_context, name, {asked.flags, bytes + page, asked.alignment});
    if (native == 0) break;
    const uint64_t base = (native + page - 1) / page * page;
    ReservedRange shadow = ReservedRange::take(base, bytes);
    const bool fits = static_cast<bool>(shadow);
    auto block = std::make_unique<SvmBlock>(sub_context, name, native, reinterpret_cast<void*>(base), asked.bytes,
                                            std::move(shadow));
    fits ? void(found = std::move(block)) : taken.push_back(std::move(block));
  }
  for (const auto& block : taken) block->give_back();
  return found;
}

std::shared_ptr<SvmBlock> allocate(SubContext& sub_context, const Asked& asked) {
  if (!sub_context.session.in_process()) return allocate_with_shadow(sub_context, asked);
  const ObjectId name = sub_context.session.new_id();
  const uint64_t native = allocate_there(sub_context, name, asked);
  if (native == 0) return nullptr;
  return std::make_shared<SvmBlock>(sub_context, name, native, reinterpret_cast<void*>(native), asked.bytes,
                                    ReservedRange());
}

}  // namespace

namespace fn {

void* clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  check(context);
  constexpr cl_svm_mem_flags Access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  const auto access = flags & Access;
  require((flags & ~Access) == 0 && (access & (access - 1)) == 0, CL_INVALID_VALUE);  // nothing finer than coarse
  require(size != 0 && (alignment & (alignment - 1)) == 0, CL_INVALID_VALUE);
  for (const Ref<_cl_device_id>& d : context->devices) {
    require(size <= d->number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE, ~cl_ulong{0}), CL_INVALID_VALUE);
  }
  require(context->has_svm(), CL_INVALID_OPERATION);
  const std::shared_ptr<SvmBlock> block =
      allocate(*context->sub_contexts[0], {access ? access : CL_MEM_READ_WRITE, size, alignment});
  require(block != nullptr, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  context->svm.add(block);
  return block->base;
}

void clSVMFree(cl_context context, void* pointer) {
  check(context);
  if (const auto block = context->svm.remove(pointer)) block->give_back();
}

}  // namespace fn
}  // namespace gt::virt
