#include "tracer/lib/adapted.h"

#include <cstring>

#include "tracer/lib/extension_closure.h"
#include "tracer/lib/extension_form.h"
#include "tracer/lib/later_wrappers.h"

namespace gt::tracer {

namespace {

bool profiling_wanted() { return timing_wanted(true) || timing_wanted(false); }

// Queues on the device have no commands of the host to time.
constexpr cl_command_queue_properties NotOurs = CL_QUEUE_ON_DEVICE;

// The program's list with profiling switched on in it; false when it is too long to copy or needs
// no change.
bool with_profiling(const cl_queue_properties* list, cl_queue_properties (&out)[32], bool& asked) {
  cl_command_queue_properties bits = 0;
  size_t n = 0, bits_at = 0;
  bool found = false;
  const auto ends = [list](size_t at) { return !list || !readable(list + at, 2 * sizeof *list) || list[at] == 0; };
  for (; !ends(n); n += 2) {
    if (n + 5 > 32) return false;
    out[n] = list[n];
    out[n + 1] = list[n + 1];
    if (list[n] == CL_QUEUE_PROPERTIES) {
      bits = list[n + 1];
      bits_at = n + 1;
      found = true;
    }
  }
  if (list && (!readable(list + n, sizeof *list) || list[n] != 0)) return false;  // the driver may refuse it unread
  asked = (bits & CL_QUEUE_PROFILING_ENABLE) != 0;
  if (bits & NotOurs) return false;
  if (!found) {
    out[n] = CL_QUEUE_PROPERTIES;
    bits_at = n + 1;
    n += 2;
  }
  out[bits_at] = bits | CL_QUEUE_PROFILING_ENABLE;
  out[n] = 0;
  return true;
}

// Result of an information query from a value of ours, by the rules of OpenCL's clGet*Info.
cl_int give(const void* value, size_t bytes, size_t room, void* out, size_t* size_ret) {
  if (out && room < bytes) return CL_INVALID_VALUE;
  if (out) std::memcpy(out, value, bytes);
  if (size_ret) *size_ret = bytes;
  return CL_SUCCESS;
}

}  // namespace

template <>
cl_command_queue call_real<FnId::clCreateCommandQueue, cl_command_queue>(
    cl_context context, cl_device_id device, cl_command_queue_properties properties,
    cl_int* error) {
  auto create = real<decltype(clCreateCommandQueue)>(FnId::clCreateCommandQueue);
  if (!create)
    return api::missing_result<FnId::clCreateCommandQueue, cl_command_queue>(context, device, properties,
                                                                        error);
  if (recording() && profiling_wanted() && !(properties & NotOurs)) {
    cl_command_queue queue =
        create(context, device, properties | CL_QUEUE_PROFILING_ENABLE, nullptr);
    if (queue) {
      watch_queue(queue, device, (properties & CL_QUEUE_PROFILING_ENABLE) != 0, nullptr);
      if (error) *error = CL_SUCCESS;
      return queue;
    }
  }
  return create(context, device, properties, error);
}

template <>
cl_command_queue call_real<FnId::clCreateCommandQueueWithProperties, cl_command_queue>(
    cl_context context, cl_device_id device, const cl_queue_properties* list, cl_int* error) {
  auto create =
      real<decltype(clCreateCommandQueueWithProperties)>(FnId::clCreateCommandQueueWithProperties);
  if (!create) {
    return api::missing_result<FnId::clCreateCommandQueueWithProperties, cl_command_queue>(
        context, device, list, error);
  }
  cl_queue_properties extended[32];
  bool asked = false;
  if (recording() && profiling_wanted() && with_profiling(list, extended, asked)) {
    cl_command_queue queue = create(context, device, extended, nullptr);
    if (queue) {
      static const cl_queue_properties Empty[] = {0};
      watch_queue(queue, device, asked, list ? list : Empty);
      if (error) *error = CL_SUCCESS;
      return queue;
    }
  }
  return create(context, device, list, error);
}

template <>
cl_int call_real<FnId::clGetContextInfo, cl_int>(cl_context context, cl_context_info name, size_t room, void* out,
                                                 size_t* size_ret) {
  auto get = real<decltype(clGetContextInfo)>(FnId::clGetContextInfo);
  if (!get) return CL_INVALID_OPERATION;
  size_t filled = 0;
  const cl_int error = get(context, name, room, out, &filled);
  if (error != CL_SUCCESS) return error;
  if (size_ret) *size_ret = filled;
  if (name == CL_CONTEXT_PROPERTIES && out) {
    show_own_printf({static_cast<cl_context_properties*>(out), filled / sizeof(cl_context_properties)}, context);
  }
  return error;
}

template <>
cl_int call_real<FnId::clGetCommandQueueInfo, cl_int>(cl_command_queue queue,
                                                      cl_command_queue_info name, size_t room,
                                                      void* out, size_t* size_ret) {
  auto get = real<decltype(clGetCommandQueueInfo)>(FnId::clGetCommandQueueInfo);
  if (!get) return CL_INVALID_OPERATION;
  if (name == CL_QUEUE_PROPERTIES && profiling_hidden(queue)) {
    cl_command_queue_properties bits = 0;
    const cl_int error = get(queue, name, sizeof bits, &bits, nullptr);
    if (error != CL_SUCCESS) return error;
    bits &= ~static_cast<cl_command_queue_properties>(CL_QUEUE_PROFILING_ENABLE);
    return give(&bits, sizeof bits, room, out, size_ret);
  }
#ifdef CL_QUEUE_PROPERTIES_ARRAY
  if (name == CL_QUEUE_PROPERTIES_ARRAY && profiling_hidden(queue)) {
    const cl_queue_properties* list = nullptr;
    const uint32_t count = asked_properties(queue, &list);
    // A NULL list and an empty one are told apart by their size in OpenCL 3.0: 0 and one element.
    // Ours is "NULL".
    const size_t bytes = count <= 1 ? 0 : count * sizeof *list;
    return give(list, bytes, room, bytes ? out : nullptr, size_ret);
  }
#endif
  return get(queue, name, room, out, size_ret);
}

template <>
cl_int call_real<FnId::clSetCommandQueueProperty, cl_int>(cl_command_queue queue, cl_command_queue_properties bits,
                                                          cl_bool on, cl_command_queue_properties* old) {
  auto set = real<cl_int(cl_command_queue, cl_command_queue_properties, cl_bool, cl_command_queue_properties*)>(
      FnId::clSetCommandQueueProperty);
  if (!set) return CL_INVALID_OPERATION;
  const bool hidden = profiling_hidden(queue);
  const cl_int error = set(queue, bits, on, old);
  if (error != CL_SUCCESS) return error;
  if (old && hidden) *old &= ~static_cast<cl_command_queue_properties>(CL_QUEUE_PROFILING_ENABLE);
  if (bits & CL_QUEUE_PROFILING_ENABLE) ask_profiling(queue, on != CL_FALSE);
  return error;
}

template <>
cl_int call_real<FnId::clGetEventProfilingInfo, cl_int>(cl_event event, cl_profiling_info name,
                                                        size_t room, void* out, size_t* size_ret) {
  auto get = real<decltype(clGetEventProfilingInfo)>(FnId::clGetEventProfilingInfo);
  if (!get) return CL_INVALID_OPERATION;
  auto info = real<decltype(clGetEventInfo)>(FnId::clGetEventInfo);
  cl_command_queue queue = nullptr;
  if (info && info(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr) == CL_SUCCESS &&
      profiling_hidden(queue)) {
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  }
  return get(event, name, room, out, size_ret);
}

template <>
cl_int call_real<FnId::clGetEventInfo, cl_int>(cl_event event, cl_event_info name, size_t room,
                                               void* out, size_t* size_ret) {
  auto get = real<decltype(clGetEventInfo)>(FnId::clGetEventInfo);
  if (!get) return CL_INVALID_OPERATION;
  const cl_int error = get(event, name, room, out, size_ret);
  if (name == CL_EVENT_REFERENCE_COUNT && error == CL_SUCCESS && out && room >= sizeof(cl_uint) &&
      tracked(event)) {
    cl_uint count = 0;
    std::memcpy(&count, out, sizeof count);
    if (count > 1) --count;  // the reference that we hold until its times are read
    std::memcpy(out, &count, sizeof count);
  }
  return error;
}

namespace {

void record_kernel_name(cl_kernel kernel) {
  auto get = real<decltype(clGetKernelInfo)>(FnId::clGetKernelInfo);
  struct {
    uint64_t handle, zero;
    char name[512];
  } payload{};
  payload.handle = reinterpret_cast<uint64_t>(kernel);
  Ring* ring = this_ring();
  if (!ring || !get ||
      get(kernel, CL_KERNEL_FUNCTION_NAME, sizeof payload.name - 1, payload.name, nullptr) != CL_SUCCESS)
    return;
  constexpr uint32_t Bytes = sizeof(RecordHeader) + sizeof payload;
  uint8_t* at = reserve(*ring, RecordType::KernelName, 0, Bytes, ticks());
  if (!at) return;
  std::memcpy(at, &payload, sizeof payload);
  commit(*ring, Bytes);
}

}  // namespace

// The only call that makes kernels without naming them. (Recording always asks how many there are: SizeProbe.)
template <>
cl_int call_real<FnId::clCreateKernelsInProgram, cl_int>(cl_program program, cl_uint room, cl_kernel* kernels,
                                                         cl_uint* count) {
  auto create = real<decltype(clCreateKernelsInProgram)>(FnId::clCreateKernelsInProgram);
  if (!create) return CL_INVALID_OPERATION;
  const cl_int error = create(program, room, kernels, count);
  if (error != CL_SUCCESS || !kernels || !count || !recording()) return error;
  for (cl_uint i = 0; i < room && i < *count; ++i) {
    record_kernel_name(kernels[i]);
    record_kernel_args(kernels[i]);
  }
  return error;
}

// Known functions get our wrapper, of the form that this driver has (extension_form.h); the address may differ between
// platforms, which extension_closure.h sorts out. Unknown ones pass through.
static void* wrapped(cl_platform_id platform, const char* name, void* function) {
  const ExtensionWrapper* known = function ? find_extension_wrapper(name) : nullptr;
  if (!known) return function;
  const ExtensionForm form = form_of(platform, known->fn);
  if (form == ExtensionForm::Later) known = find_later_wrapper(known->fn);
  return form == ExtensionForm::Earlier ? function : wrapper_for(*known, function);
}

template <>
void* call_real<FnId::clGetExtensionFunctionAddressForPlatform, void*>(cl_platform_id platform,
                                                                       const char* name) {
  auto get = real<decltype(clGetExtensionFunctionAddressForPlatform)>(
      FnId::clGetExtensionFunctionAddressForPlatform);
  return wrapped(platform, name, get ? get(platform, name) : nullptr);
}

template <>
void* call_real<FnId::clGetExtensionFunctionAddress, void*>(const char* name) {
  auto get = real<void*(const char*)>(FnId::clGetExtensionFunctionAddress);
  return wrapped(nullptr, name, get ? get(name) : nullptr);
}

}  // namespace gt::tracer
