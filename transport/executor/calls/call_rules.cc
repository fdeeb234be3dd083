#include "transport/executor/calls/call_rules.h"

#include <CL/cl_ext.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <CL/cl_ext.h>

#include "traces/api/api.h"
#include "traces/api/properties.h"

namespace gt::exec {
namespace {

using api::FnId;
using api::FnInfo;
using api::Tag;
using api::Wire;

// What the table has no word for.
constexpr FnId Refused[] = {
    FnId::clCreateContextFromType,  // finds devices that the client may not use
    FnId::clGetPlatformInfo,        // Survey tells
    FnId::clGetDeviceInfo,
    FnId::clUnloadCompiler,  // concerns everybody in the process
    FnId::clUnloadPlatformCompiler,
    FnId::clSetCommandQueueProperty,
    FnId::clCreateSubDevicesEXT,  // of an extension that is hidden
    FnId::clReleaseDeviceEXT,
};
// Memory that has an address both sides know. Those that could wait may, when they are not asked to.
constexpr FnId Svm[] = {
    FnId::clSVMAlloc,      FnId::clSVMFree,         FnId::clEnqueueSVMMemcpy,     FnId::clEnqueueSVMMemFill,
    FnId::clEnqueueSVMMap, FnId::clEnqueueSVMUnmap, FnId::clEnqueueSVMMigrateMem,
};
// Recorded commands are the driver's affair; clUpdateMutableCommandsKHR has a message of its own.
constexpr FnId CommandBuffers[] = {
    FnId::clCreateCommandBufferKHR,         FnId::clFinalizeCommandBufferKHR, FnId::clReleaseCommandBufferKHR,
    FnId::clEnqueueCommandBufferKHR,        FnId::clGetCommandBufferInfoKHR,  FnId::clGetMutableCommandInfoKHR,
    FnId::clCommandBarrierWithWaitListKHR,  FnId::clCommandCopyBufferKHR,     FnId::clCommandCopyBufferRectKHR,
    FnId::clCommandCopyBufferToImageKHR,    FnId::clCommandCopyImageKHR,      FnId::clCommandCopyImageToBufferKHR,
    FnId::clCommandFillBufferKHR,           FnId::clCommandFillImageKHR,      FnId::clCommandNDRangeKernelKHR,
};
constexpr FnId Semaphores[] = {
    FnId::clCreateSemaphoreWithPropertiesKHR, FnId::clEnqueueWaitSemaphoresKHR, FnId::clEnqueueSignalSemaphoresKHR,
    FnId::clGetSemaphoreInfoKHR,              FnId::clReleaseSemaphoreKHR,
};
// The same of unified shared memory. Copies are given addresses on both sides; other bytes come as Write and Read.
constexpr FnId Usm[] = {
    FnId::clHostMemAllocINTEL,   FnId::clDeviceMemAllocINTEL, FnId::clSharedMemAllocINTEL,
    FnId::clMemFreeINTEL,        FnId::clEnqueueMemcpyINTEL,  FnId::clEnqueueMemFillINTEL,
    FnId::clEnqueueMemsetINTEL,  FnId::clEnqueueMigrateMemINTEL, FnId::clEnqueueMemAdviseINTEL,
};
constexpr FnId AllowedExtensions[] = {FnId::clGetKernelSuggestedLocalWorkSizeKHR, FnId::clGetKernelSubGroupInfoKHR};

template <size_t N>
bool is_one_of(const FnId (&list)[N], FnId fn) {
  return std::find(std::begin(list), std::end(list), fn) != std::end(list);
}

bool param_may_travel(const FnInfo& info, const api::ParamInfo& param) {
  const bool creates = info.result.out == Wire::Handle;
  switch (param.in) {
    case Wire::Pointer:
    case Wire::Pointers: return false;
    case Wire::HostData:
    case Wire::Code: return creates;  // check_call looks at what is given
    default: break;
  }
  // Handles of what exists already: lists of platforms and devices.
  return !(param.out == Wire::Handles && param.effect == api::Effect::Use);
}

// Clients map their own memory; of no bytes, it is a question.
constexpr FnId Mapping = FnId::clEnqueueMapBuffer;

bool derive(FnId fn) {
  const FnInfo& info = api::fn_info(static_cast<uint16_t>(fn));
  const api::Attributes& a = info.attributes;
  if (!info.params || is_one_of(Refused, fn)) return false;
  if (is_one_of(CommandBuffers, fn) || is_one_of(Semaphores, fn) || is_one_of(Usm, fn)) return true;
  if (is_one_of(Svm, fn) || fn == FnId::clSetKernelArg || fn == FnId::clSetKernelArgDevicePointerEXT || fn == Mapping)
    return true;
  if (a.extension && !is_one_of(AllowedExtensions, fn)) return false;
  if (std::strstr(info.name, "GL") || info.result.out == Wire::Code || info.result.out == Wire::HostData) return false;
  if (a.waits || a.blocking >= 0 || a.retains != ObjectKind::Unknown || a.launch || a.records || a.replays >= 0 ||
      a.kernel_value >= 0 || a.options >= 0)
    return false;
  return std::all_of(info.params, info.params + info.param_count,
                     [&](const api::ParamInfo& param) { return param_may_travel(info, param); });
}

// Keys that are numbers alone. Others could hand in a file descriptor, a display, a function.
bool is_harmless(FnId fn, uint64_t key) {
  switch (fn) {
    case FnId::clCreateContext: return key == CL_CONTEXT_PLATFORM || key == CL_CONTEXT_INTEROP_USER_SYNC;
    case FnId::clCreateCommandQueueWithProperties:
      return key == CL_QUEUE_PROPERTIES || key == CL_QUEUE_SIZE || key == 0x1096 /* CL_QUEUE_PRIORITY_KHR */ ||
             key == 0x1097 /* CL_QUEUE_THROTTLE_KHR */;
    case FnId::clCreateSamplerWithProperties:
      return key >= CL_SAMPLER_NORMALIZED_COORDS && key <= 0x1157 /* CL_SAMPLER_LOD_MAX */;
    case FnId::clCreateSubDevices:
      return key >= CL_DEVICE_PARTITION_EQUALLY && key <= CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN;
    case FnId::clHostMemAllocINTEL:
    case FnId::clDeviceMemAllocINTEL:
    case FnId::clSharedMemAllocINTEL:
      return key == CL_MEM_ALLOC_FLAGS_INTEL || key == 0x419E /* CL_MEM_ALLOC_BUFFER_LOCATION_INTEL */;
    case FnId::clCreateCommandBufferKHR:
    case FnId::clCommandNDRangeKernelKHR:
      return key == CL_COMMAND_BUFFER_FLAGS_KHR || key == CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR ||
             key == 0x12B7 /* CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR */ ||
             key == 0x12B8 /* CL_MUTABLE_DISPATCH_ASSERTS_KHR */;
    case FnId::clCreateSemaphoreWithPropertiesKHR:
      return key == CL_SEMAPHORE_TYPE_KHR || key == CL_DEVICE_HANDLE_LIST_KHR;
    case FnId::clCreateBufferWithProperties: return key == 0x5000;  // CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT
    default: return false;  // of images and pipes: there are none yet
  }
}

cl_int bad_property(FnId fn) {
  return fn == FnId::clCreateCommandQueueWithProperties ? CL_INVALID_QUEUE_PROPERTIES
         : fn == FnId::clCreateSubDevices || is_one_of(CommandBuffers, fn) ? CL_INVALID_VALUE
                                                        : CL_INVALID_PROPERTY;
}

cl_int check_handle(const FnInfo& info, const api::DecodedArg& arg, Objects& objects) {
  const api::ParamInfo& param = info.params[arg.param];
  const bool waits = param.in == Wire::Handles && arg.kind == ObjectKind::Event;
  const Object* const object = objects.find(arg.value, arg.kind);
  if (!object) return waits ? CL_INVALID_EVENT_WAIT_LIST : invalid(arg.kind);
  if (waits) return objects.has_failed(*object) ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
  return object->failed && info.attributes.releases == ObjectKind::Unknown ? CL_INVALID_EVENT : CL_SUCCESS;
}

// How many bytes from the address on the call means, where a parameter says so.
uint64_t length_of(FnId fn, const FnInfo& info, std::span<const api::DecodedArg> args, const api::DecodedArg& pointer) {
  const bool advice = fn == FnId::clEnqueueMemAdviseINTEL;  // which moves nothing
  const int param = advice ? 2 : info.attributes.size;
  const auto parts_of = [&](int wanted) {
    return std::count_if(args.begin(), args.end(), [&](const api::DecodedArg& a) { return a.param == wanted; });
  };
  if (param < 0) return 0;
  if (parts_of(pointer.param) == 1) return value_of(args, param);
  // A list of sizes beside the list of pointers.
  const auto first = std::find_if(args.begin(), args.end(), [&](const auto& a) { return a.param == pointer.param; });
  const auto size = std::find_if(args.begin(), args.end(), [&](const auto& a) { return a.param == param; });
  const auto index = &pointer - &*first;
  return parts_of(param) > index ? (size + index)->value : 0;
}

// The memory must be there, of the kind that the function is for, and its queue of the same context.
cl_int check_svm(FnId fn, const FnInfo& info, std::span<const api::DecodedArg> args, const api::DecodedArg& pointer,
                 Objects& objects) {
  const Object* const block = objects.find_svm(pointer.value, length_of(fn, info, args, pointer));
  if (!block || block->svm->is_usm() != is_one_of(Usm, fn)) return CL_INVALID_VALUE;
  const Object* const queue = objects.find(args[0].value, ObjectKind::Queue);
  return queue && queue->queue->context != block->svm->context() ? CL_INVALID_CONTEXT : CL_SUCCESS;
}

// What a kernel may reach through pointers that are none of its arguments: a kind of allocations, or a list of some.
bool may_reach(FnId fn, std::span<const api::DecodedArg> args, const api::DecodedArg& arg, Objects& objects) {
  if (fn != FnId::clSetKernelExecInfo || arg.tag != Tag::Bytes || arg.data.size() != value_of(args, 2)) return false;
  switch (value_of(args, 1)) {
    case CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL: return arg.data.size() == sizeof(cl_bool);
    case CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL: break;
    default: return false;
  }
  if (arg.data.size() % sizeof(uint64_t) != 0) return false;
  for (size_t i = 0; i < arg.data.size(); i += sizeof(uint64_t)) {
    uint64_t address = 0;
    std::memcpy(&address, arg.data.data() + i, sizeof address);
    const Object* const block = objects.find_svm(address);
    if (!block || !block->svm->is_usm()) return false;
  }
  return true;
}

// Walks the words of property lists, which are arguments of their own.
class ListCheck {
 public:
  cl_int operator()(FnId fn, const api::DecodedArg& arg) {
    const bool key = walk_.at_key();
    walk_.is_object(arg.value);
    const bool word = arg.tag != Tag::Null && arg.tag != Tag::Empty;
    return key && word && !is_harmless(fn, arg.value) ? bad_property(fn) : CL_SUCCESS;
  }

 private:
  api::PropertyWalk walk_;
};

// On the device: what a kernel reaches, in numbers. A kernel may make any of them by itself.
bool are_addresses(FnId fn, std::span<const api::DecodedArg> args) {
  return fn == FnId::clSetKernelExecInfo && value_of(args, 1) == 0x5002 /* CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT */;
}

}  // namespace

bool may_call(FnId fn) {
  static const auto table = [] {
    std::array<bool, api::FnCount> allowed{};
    for (uint16_t i = 1; i < api::FnCount; ++i) allowed[i] = derive(static_cast<FnId>(i));
    return allowed;
  }();
  return static_cast<size_t>(fn) < table.size() && table[static_cast<size_t>(fn)];
}

uint64_t value_of(std::span<const api::DecodedArg> args, int param) {
  for (const api::DecodedArg& arg : args)
    if (param >= 0 && arg.param == param) return arg.value;
  return 0;
}

cl_int check_call(FnId fn, std::span<const api::DecodedArg> args, Objects& objects) {
  const FnInfo& info = api::fn_info(static_cast<uint16_t>(fn));
  const uint64_t flags = value_of(args, info.attributes.flags);
  const bool creates = info.result.out == Wire::Handle;
  const bool uses = creates && info.attributes.flags >= 0 && flags & CL_MEM_USE_HOST_PTR;
  const bool waits = info.attributes.blocking >= 0 && value_of(args, info.attributes.blocking) != 0;
  if (waits || (fn == Mapping && value_of(args, info.attributes.size) != 0)) return CL_INVALID_OPERATION;
  ListCheck list;
  for (const api::DecodedArg& arg : args) {
    const api::ParamInfo& param = info.params[arg.param];
    cl_int code = CL_SUCCESS;
    if (arg.tag == Tag::Code) code = CL_INVALID_OPERATION;
    if (arg.tag == Tag::Handle) code = check_handle(info, arg, objects);
    // What a call is made on is never NULL.
    if (arg.tag == Tag::Null && arg.param == 0 && param.in == Wire::Handle) code = invalid(param.kind);
    if (arg.tag == Tag::HostPointer) {
      if (arg.kind == ObjectKind::Svm)
        code = check_svm(fn, info, args, arg, objects);
      else if (arg.kind != ObjectKind::Unknown || (uses && !objects.find_svm(arg.value, arg.length)))
        code = CL_INVALID_VALUE;
      else if (!uses && arg.data.size() != arg.length)
        code = CL_INVALID_HOST_PTR;
    }
    const bool svm = arg.tag == Tag::HostPointer && arg.kind == ObjectKind::Svm;
    const bool none = arg.tag == Tag::Null || arg.tag == Tag::Empty;
    const bool reach = param.in == Wire::Info && (are_addresses(fn, args) || may_reach(fn, args, arg, objects));
    if (param.in == Wire::Info && !svm && !reach && (!none || value_of(args, arg.param - 1) != 0))
      code = CL_INVALID_VALUE;
    const bool frees = fn == FnId::clSVMFree || fn == FnId::clMemFreeINTEL;
    if (param.kind == ObjectKind::Svm && none && !frees) code = CL_INVALID_VALUE;
    // An array's length is the parameter before it: with one, no element may be NULL.
    if (arg.tag == Tag::Null && param.in == Wire::Handles && value_of(args, arg.param - 1) != 0)
      code = param.kind == ObjectKind::Event ? CL_INVALID_EVENT_WAIT_LIST : invalid(param.kind);
    if (code == CL_SUCCESS && param.in == Wire::Properties) code = list(fn, arg);
    if (code != CL_SUCCESS) return code;
  }
  return CL_SUCCESS;
}

}  // namespace gt::exec
