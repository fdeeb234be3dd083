// Unified shared memory (cl_intel_unified_shared_memory): making and freeing allocations, and what is asked of them.
#include <memory>
#include <optional>
#include <utility>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/queue.h"
#include "optimizer-rt/client/objects/svm.h"
#include "optimizer-rt/client/platform/native_device.h"
#include "optimizer-rt/client/transfer/shared_pages.h"
#include "traces/api/properties.h"

namespace gt::virt {
namespace {

using api::FnId;

struct Asked {
  const cl_properties* properties;
  size_t bytes;
  cl_uint alignment;
};

// Keys that are not known, and what may not stand together, the driver refuses.
cl_mem_alloc_flags_intel flags_in(const cl_properties* list) {
  cl_mem_alloc_flags_intel flags = 0;
  for (size_t i = 0; list && list[i] != 0; i += 2) {
    require(i < api::MaxPropertyWords, CL_INVALID_PROPERTY);
    if (list[i] == CL_MEM_ALLOC_FLAGS_INTEL) flags = list[i + 1];
  }
  return flags;
}

void check_size(_cl_device_id& device, const Asked& asked) {
  require(asked.bytes != 0 && asked.bytes <= device.number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE, ~cl_ulong{0}),
          CL_INVALID_BUFFER_SIZE);
  require((asked.alignment & (asked.alignment - 1)) == 0, CL_INVALID_VALUE);
}

_cl_device_id& device_in(const _cl_context& context, cl_device_id handle) {
  _cl_device_id& device = device_of(handle);
  require(context.has(&device), CL_INVALID_DEVICE);
  require(has_usm(device), CL_INVALID_OPERATION);
  return device;
}

bool can(_cl_device_id& device, cl_device_info kind) {
  return device.number<cl_device_unified_shared_memory_capabilities_intel>(kind) &
         CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL;
}

// By F, which takes a device (`of`) or none.
template <FnId F, class... Device>
void* allocate(_cl_context& context, SubContext& sub_context, const Asked& asked,
               cl_unified_shared_memory_type_intel type, _cl_device_id* device, Device... of) {
  const UsmFacts facts{type, device, flags_in(asked.properties)};
  cl_int code = CL_OUT_OF_RESOURCES;  // as when every address is taken here
  const auto give = [&](ObjectId name, uint64_t bytes) {
    cl_int wanted = 0;
    const Bytes outputs = sub_context.session.ask<F>({name}, as<cl_context>(sub_context.name), of..., asked.properties,
                                                     size_t{bytes}, asked.alignment, &wanted);
    const uint64_t address = answer_of(F, outputs).number(api::DecodedReturn);
    if (address == 0) code = creation_code(F, outputs);
    return address;
  };
  const Used used = type == CL_MEM_TYPE_DEVICE_INTEL ? Used::WhenTouched : Used::AtOnce;
  const auto keep = [&](ObjectId name, uint64_t native, uint64_t base, size_t bytes) {
    return keep_in_step(sub_context, used, name, native, base, bytes);
  };
  // What nobody can touch is not worth watching.
  const bool touched =
      type != CL_MEM_TYPE_DEVICE_INTEL || device->number<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
  const std::shared_ptr<SvmBlock> block =
      make_block(sub_context, asked.bytes, give, facts, touched ? KeepInStep(keep) : KeepInStep());
  require(block != nullptr, code);
  context.usm.add(block);
  return block->base;
}

cl_int free_memory(_cl_context& context, void* pointer) {
  if (!pointer) return CL_SUCCESS;
  const auto block = context.usm.remove(pointer);
  require(block != nullptr, CL_INVALID_VALUE);
  block->give_back();
  return CL_SUCCESS;
}

}  // namespace

namespace fn {

void* clDeviceMemAllocINTEL(cl_context context, cl_device_id handle, const cl_properties* properties, size_t size,
                            cl_uint alignment, cl_int* errcode) {
  check(context);
  _cl_device_id& device = device_in(*context, handle);
  const Asked asked{properties, size, alignment};
  check_size(device, asked);
  void* const p =
      allocate<FnId::clDeviceMemAllocINTEL>(*context, context->sub_context_of(&device), asked, CL_MEM_TYPE_DEVICE_INTEL,
                                            &device, as<cl_device_id>(device.name));
  if (errcode) *errcode = CL_SUCCESS;
  return p;
}

void* clSharedMemAllocINTEL(cl_context context, cl_device_id handle, const cl_properties* properties, size_t size,
                            cl_uint alignment, cl_int* errcode) {
  check(context);
  require(handle || context->one_sub_context(), CL_INVALID_OPERATION);  // no driver has all of the devices
  _cl_device_id* const device = handle ? &device_in(*context, handle) : nullptr;
  _cl_device_id& asks = device ? *device : *context->devices[0];
  require(can(asks, CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL), CL_INVALID_OPERATION);
  const Asked asked{properties, size, alignment};
  check_size(asks, asked);
  void* const p =
      allocate<FnId::clSharedMemAllocINTEL>(*context, context->sub_context_of(&asks), asked, CL_MEM_TYPE_SHARED_INTEL,
                                            device, as<cl_device_id>(device ? device->name : 0));
  if (errcode) *errcode = CL_SUCCESS;
  return p;
}

void* clHostMemAllocINTEL(cl_context context, const cl_properties* properties, size_t size, cl_uint alignment,
                          cl_int* errcode) {
  check(context);
  require(context->one_sub_context(), CL_INVALID_OPERATION);
  _cl_device_id& first = *context->devices[0];
  require(can(first, CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL), CL_INVALID_OPERATION);
  const Asked asked{properties, size, alignment};
  check_size(first, asked);
  void* const p =
      allocate<FnId::clHostMemAllocINTEL>(*context, *context->sub_contexts[0], asked, CL_MEM_TYPE_HOST_INTEL, nullptr);
  if (errcode) *errcode = CL_SUCCESS;
  return p;
}

cl_int clMemFreeINTEL(cl_context context, void* pointer) {
  check(context);
  require(context->has_usm(), CL_INVALID_OPERATION);
  return free_memory(*context, pointer);
}

cl_int clMemBlockingFreeINTEL(cl_context context, void* pointer) {
  check(context);
  require(context->has_usm(), CL_INVALID_OPERATION);
  if (!pointer) return CL_SUCCESS;
  require(context->usm.begins_at(pointer), CL_INVALID_VALUE);
  for (const Ref<_cl_command_queue>& queue : context->living_queues())
    if (queue->sub_context.session.alive()) queue->wait_for_all();
  return free_memory(*context, pointer);
}

cl_int clGetMemAllocInfoINTEL(cl_context context, const void* pointer, cl_mem_info_intel name, size_t room, void* value,
                              size_t* size_ret) {
  check(context);
  require(context->has_usm(), CL_INVALID_OPERATION);
  const std::shared_ptr<SvmBlock> block = context->usm.find_inside(pointer);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_MEM_ALLOC_TYPE_INTEL:
      return answer.value<cl_unified_shared_memory_type_intel>(block ? block->usm->type : CL_MEM_TYPE_UNKNOWN_INTEL);
    case CL_MEM_ALLOC_BASE_PTR_INTEL:
      return answer.value<void*>(block ? block->base : nullptr);
    case CL_MEM_ALLOC_SIZE_INTEL:
      return answer.value<size_t>(block ? block->size : 0);
    case CL_MEM_ALLOC_DEVICE_INTEL:
      return answer.value<cl_device_id>(block && block->usm->device ? block->usm->device->handle() : nullptr);
    case CL_MEM_ALLOC_FLAGS_INTEL:
      return answer.value<cl_mem_alloc_flags_intel>(block ? block->usm->flags : 0);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace fn
}  // namespace gt::virt
