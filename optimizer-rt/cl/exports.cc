// The OpenCL symbols that the program links to: each goes to the real loader, some with a hook
// before or after.
//
// The thread is marked as inside for the length of the call, so that what the driver allocates is
// not taken for the program's. Cost: two TLS increments and one indirect call, below 5 ns.
#include <pthread.h>

#include <type_traits>

#include "optimizer-rt/cl/asking.h"
#include "optimizer-rt/cl/coming_bytes.h"
#include "optimizer-rt/cl/context_end.h"
#include "optimizer-rt/cl/contexts.h"
#include "optimizer-rt/cl/copied_memory.h"
#include "optimizer-rt/cl/drivers_memory.h"
#include "optimizer-rt/cl/extension_functions.h"
#include "optimizer-rt/cl/hook.h"
#include "optimizer-rt/cl/placement.h"
#include "optimizer-rt/cl/queue_users.h"
#include "optimizer-rt/cl/queues.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/reused_memory.h"
#include "optimizer-rt/cl/staged_events.h"
#include "optimizer-rt/cl/staging.h"
#include "optimizer-rt/cl/svm_memory.h"
#include "optimizer-rt/cl/transfers.h"
#include "optimizer-rt/cl/usm.h"
#include "optimizer-rt/cl/usm_hooks.h"
#include "optimizer-rt/cl/virtual_platform.h"
#include "optimizer-rt/pool/runtime.h"
#include "traces/base/reentry.h"
#include "traces/base/unwatched.h"

namespace gt::opt {
namespace {

// Pins, queues and threads are the parent's.
bool active() { return runtime.active() && !runtime.in_forked_child(); }

template <>
struct Hook<Fn::clSetKernelArg> : Straight {};

// --- Transfers ---

using staging::HostTransfer;
using ToDevice = std::integral_constant<staging::Way, staging::Way::ToDevice>;
using ToHost = std::integral_constant<staging::Way, staging::Way::ToHost>;

// What all seven functions have in common.
TransferCall common(staging::Way way, HostTransfer::Shape shape, cl_command_queue queue, cl_mem mem, cl_bool blocking,
                    const void* host, cl_uint waits, const cl_event* list, cl_event* event) {
  TransferCall c;
  c.queue = queue;
  c.way = way;
  c.shape = shape;
  c.mem = mem;
  c.blocking = blocking != CL_FALSE;
  c.host = host;
  c.waits = waits;
  c.wait_list = list;
  c.event = event;
  return c;
}

// Of a class with call(), which gives the arguments in one shape.
template <class Calls>
struct TransferHook : AfterOnly {
  template <class... A>
  static bool instead(cl_int* result, A... args) {
    const TransferCall c = Calls::call(args...);
    if (!transfer(c, result)) return false;
    if (*result == CL_SUCCESS) transferred(c);
    return true;
  }
  template <class... A>
  static void after(cl_int err, A... args) {
    if (err == CL_SUCCESS && runtime.active()) transferred(Calls::call(args...));
  }
};

template <class Way>
struct RangeHook : TransferHook<RangeHook<Way>> {
  static TransferCall call(cl_command_queue q, cl_mem mem, cl_bool blocking, size_t offset, size_t bytes,
                      const void* p, cl_uint waits, const cl_event* list, cl_event* event) {
    TransferCall c = common(Way::value, HostTransfer::Shape::Range, q, mem, blocking, p, waits, list, event);
    c.offset = offset;
    c.bytes = bytes;
    return c;
  }
};
template <class Way>
struct BoxHook : TransferHook<BoxHook<Way>> {
  static TransferCall call(cl_command_queue q, cl_mem mem, cl_bool blocking, const size_t* origin,
                      const size_t* host_origin, const size_t* region, size_t row, size_t slice, size_t host_row,
                      size_t host_slice, const void* p, cl_uint waits, const cl_event* list, cl_event* event) {
    TransferCall c = common(Way::value, HostTransfer::Shape::Box, q, mem, blocking, p, waits, list, event);
    c.origin = origin;
    c.host_origin = host_origin;
    c.region = region;
    c.row_pitch = row;
    c.slice_pitch = slice;
    c.host_row_pitch = host_row;
    c.host_slice_pitch = host_slice;
    return c;
  }
};
template <class Way>
struct ImageHook : TransferHook<ImageHook<Way>> {
  static TransferCall call(cl_command_queue q, cl_mem image, cl_bool blocking, const size_t* origin,
                      const size_t* region, size_t row, size_t slice, const void* p, cl_uint waits,
                      const cl_event* list, cl_event* event) {
    TransferCall c = common(Way::value, HostTransfer::Shape::Image, q, image, blocking, p, waits, list, event);
    c.origin = origin;
    c.region = region;
    c.host_row_pitch = row;
    c.host_slice_pitch = slice;
    return c;
  }
};
template <>
struct Hook<Fn::clEnqueueWriteBuffer> : RangeHook<ToDevice> {};
template <>
struct Hook<Fn::clEnqueueReadBuffer> : RangeHook<ToHost> {};
template <>
struct Hook<Fn::clEnqueueWriteBufferRect> : BoxHook<ToDevice> {};
template <>
struct Hook<Fn::clEnqueueReadBufferRect> : BoxHook<ToHost> {};
template <>
struct Hook<Fn::clEnqueueWriteImage> : ImageHook<ToDevice> {};
template <>
struct Hook<Fn::clEnqueueReadImage> : ImageHook<ToHost> {};

// --- Shared virtual memory ---

template <>
struct Hook<Fn::clSVMAlloc> : AfterOnly {
  static void after(void* p, cl_context context, cl_svm_mem_flags, size_t bytes, cl_uint) {
    if (p && active()) svm_allocated(context, p, bytes);
  }
};
template <>
struct Hook<Fn::clSVMFree> : BeforeOnly {
  static void before(cl_context, void* p) { svm_freed(p); }
};
template <>
struct Hook<Fn::clEnqueueSVMFree> : AfterOnly {
  template <class... A>
  static void after(cl_int err, cl_command_queue, cl_uint count, void** list, A...) {
    for (cl_uint i = 0; err == CL_SUCCESS && i < count; ++i) svm_freed(list[i]);
  }
};
template <>
struct Hook<Fn::clEnqueueSVMMemcpy> : AfterOnly {
  static bool instead(cl_int* result, cl_command_queue q, cl_bool blocking, void* to, const void* from, size_t bytes,
                      cl_uint waits, const cl_event* list, cl_event* event) {
    staging::Way way;
    if (!active() || !copy_of_svm(q, to, from, bytes, &way)) return false;
    const bool up = way == staging::Way::ToDevice;
    TransferCall c = common(way, HostTransfer::Shape::Svm, q, nullptr, blocking, up ? from : to, waits, list, event);
    c.svm = up ? to : from;
    c.bytes = bytes;
    if (!transfer(c, result)) return false;
    after(*result, q, blocking, to, from, bytes, waits, list, event);
    return true;
  }
  // Where they come to may be the host's memory, too.
  static void after(cl_int err, cl_command_queue queue, cl_bool blocking, void* to, const void*, size_t bytes, cl_uint,
                    const cl_event*, cl_event* event) {
    if (err == CL_SUCCESS && runtime.active() && !blocking)
      bytes_come(queue, false, event ? *event : nullptr, {to, bytes, bytes});
  }
};

// --- Memory objects ---

void made_over(cl_mem buffer, cl_mem_flags flags, const void* host, size_t bytes) {
  if (buffer && (flags & CL_MEM_USE_HOST_PTR) != 0 && active()) buffer_made_over(buffer, host, bytes);
}
template <>
struct Hook<Fn::clCreateBuffer> : AfterOnly {
  static bool instead(cl_mem* out, cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* err) {
    return create_copied({.context = context, .flags = flags, .bytes = bytes, .host = host, .error = err}, out);
  }
  static void after(cl_mem buffer, cl_context, cl_mem_flags flags, size_t bytes, void* host, cl_int*) {
    made_over(buffer, flags, host, bytes);
  }
};
template <>
struct Hook<Fn::clCreateBufferWithProperties> : AfterOnly {
  static bool instead(cl_mem* out, cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                      size_t bytes, void* host, cl_int* err) {
    return create_copied({.context = context, .with_properties = true, .properties = properties, .flags = flags,
                          .bytes = bytes, .host = host, .error = err}, out);
  }
  static void after(cl_mem buffer, cl_context, const cl_mem_properties*, cl_mem_flags flags, size_t bytes, void* host,
                    cl_int*) {
    made_over(buffer, flags, host, bytes);
  }
};
cl_mem made_of(const cl_image_desc* desc) { return desc ? desc->mem_object : nullptr; }
template <>
struct Hook<Fn::clCreateImage> : AfterOnly {
  static bool instead(cl_mem* out, cl_context context, cl_mem_flags flags, const cl_image_format* format,
                      const cl_image_desc* desc, void* host, cl_int* err) {
    return desc && create_copied({.context = context, .flags = flags, .format = format, .desc = desc, .host = host,
                                  .error = err}, out);
  }
  static void after(cl_mem image, cl_context, cl_mem_flags flags, const cl_image_format*, const cl_image_desc* desc,
                    void*, cl_int*) {
    if (image) memory_derived(image, flags, made_of(desc));
  }
};
template <>
struct Hook<Fn::clCreateImageWithProperties> : AfterOnly {
  static bool instead(cl_mem* out, cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                      const cl_image_format* format, const cl_image_desc* desc, void* host, cl_int* err) {
    return desc && create_copied({.context = context, .with_properties = true, .properties = properties, .flags = flags,
                                  .format = format, .desc = desc, .host = host, .error = err}, out);
  }
  static void after(cl_mem image, cl_context, const cl_mem_properties*, cl_mem_flags flags, const cl_image_format*,
                    const cl_image_desc* desc, void*, cl_int*) {
    if (image) memory_derived(image, flags, made_of(desc));
  }
};
template <>
struct Hook<Fn::clCreateSubBuffer> : AfterOnly {
  template <class... A>
  static void after(cl_mem child, cl_mem parent, cl_mem_flags flags, A...) {
    memory_derived(child, flags, parent);
  }
};
template <>
struct Hook<Fn::clRetainMemObject> : AfterOnly {
  static void after(cl_int err, cl_mem mem) {
    if (err != CL_SUCCESS) return;
    memory_retained(mem);
    buffer_over_retained(mem);
  }
};
template <>
struct Hook<Fn::clReleaseMemObject> : BeforeOnly {
  static void before(cl_mem mem) {
    memory_releasing(mem);
    buffer_over_releasing(mem);
  }
};
template <>
struct Hook<Fn::clEnqueueMapBuffer> : AfterOnly {
  template <class... A>
  static void after(void* p, cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t bytes, A...) {
    if (p && active()) memory_mapped(p, bytes);
  }
};
template <>
struct Hook<Fn::clEnqueueMapImage> : AfterOnly {
  template <class... A>
  static void after(void* p, cl_command_queue, cl_mem, cl_bool, cl_map_flags, const size_t*, const size_t* region,
                    size_t* row_pitch, size_t* slice_pitch, A...) {
    if (!p || !active()) return;
    const bool layers = region[2] > 1 && slice_pitch && *slice_pitch;
    memory_mapped(p, layers ? *slice_pitch * region[2] : *row_pitch * region[1]);
  }
};
template <>
struct Hook<Fn::clEnqueueUnmapMemObject> : AfterOnly {
  template <class... A>
  static void after(cl_int err, cl_command_queue, cl_mem, void* p, A...) {
    if (err == CL_SUCCESS) memory_unmapped(p);
  }
};
template <>
struct Hook<Fn::clGetMemObjectInfo> : AfterOnly {
  static void after(cl_int err, cl_mem mem, cl_mem_info what, size_t size, void* value, size_t*) {
    if (err == CL_SUCCESS) correct_memory_info(mem, what, size, value);
  }
};

// --- Platforms and devices ---

template <>
struct Hook<Fn::clGetPlatformIDs> : Instead {
  static bool instead(cl_int* result, cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
    return virtual_platform_ids(entries, platforms, count, result);
  }
};
template <>
struct Hook<Fn::clGetDeviceIDs> : Instead {
  static bool instead(cl_int* result, cl_platform_id platform, cl_device_type type, cl_uint entries,
                      cl_device_id* devices, cl_uint* count) {
    return virtual_device_ids(platform, type, entries, devices, count, result);
  }
};
template <>
struct Hook<Fn::clGetDeviceInfo> : AfterOnly {
  static bool instead(cl_int* result, cl_device_id device, cl_device_info what, size_t size, void* value,
                      size_t* size_ret) {
    return usm_device_info(device, what, size, value, size_ret, result);
  }
  static void after(cl_int err, cl_device_id, cl_device_info what, size_t size, void* value, size_t*) {
    if (err == CL_SUCCESS) correct_device_info(what, size, value);
  }
};

template <>
struct Hook<Fn::clGetExtensionFunctionAddressForPlatform> : Instead {
  static bool instead(void** result, cl_platform_id platform, const char* name) {
    if (extension_function(platform, name, result)) return true;
    void* const usm = usm_function(name);
    if (!usm) return false;
    void* const drivers = GT_REAL(clGetExtensionFunctionAddressForPlatform)(platform, name);
    *result = drivers ? drivers : usm;
    return true;
  }
};
// --- Contexts ---

// The program asks about a context that it holds.
void subtract_hidden(cl_uint* references, cl_uint hidden) {
  *references = *references > hidden ? *references - hidden : 1;
}

void made(cl_context context) {
  if (!context || !active()) return;
  context_created(context);
  place_pools_near(context);
  provide_driver_memory(context);
}
struct ContextHook : Instead {
  template <class... A>
  static void after(cl_context context, A...) {
    made(context);
  }
};
template <>
struct Hook<Fn::clCreateContext> : ContextHook {
  static bool instead(cl_context* result, const cl_context_properties* properties, cl_uint count,
                      const cl_device_id* devices, ContextNotify notify, void* data, cl_int* error) {
    if (virtual_context(properties, count, devices, notify, data, error, result)) {
      if (!is_virtual(*result)) made(*result);
      return true;
    }
    learn_devices(count, devices);
    return false;
  }
};
template <>
struct Hook<Fn::clCreateContextFromType> : ContextHook {
  static bool instead(cl_context* result, const cl_context_properties* properties, cl_device_type type,
                      ContextNotify notify, void* data, cl_int* error) {
    if (virtual_context_of_type(properties, type, notify, data, error, result)) {
      if (!is_virtual(*result)) made(*result);
      return true;
    }
    learn_devices_of_type(properties, type);
    return false;
  }
};
template <>
struct Hook<Fn::clRetainContext> : AfterOnly {
  static void after(cl_int err, cl_context context) {
    if (err == CL_SUCCESS && active()) context_retained(context);
  }
};
template <>
struct Hook<Fn::clReleaseContext> : BeforeOnly {
  static void before(cl_context context) {
    if (active()) context_releasing(context);
  }
};
template <>
struct Hook<Fn::clGetContextInfo> : AfterOnly {
  static void after(cl_int err, cl_context context, cl_context_info what, size_t size, void* value,
                    size_t* size_ret) {
    if (err == CL_SUCCESS) correct_context_info(what, size, size_ret, value);
    if (what != CL_CONTEXT_REFERENCE_COUNT || err != CL_SUCCESS || !value || size < sizeof(cl_uint))
      return;
    if (active()) subtract_hidden(static_cast<cl_uint*>(value), hidden_references(context));
  }
};

// --- Queues and events ---

template <>
struct Hook<Fn::clCreateCommandQueue> : AfterOnly {
  template <class... A>
  static void after(cl_command_queue queue, A...) {
    if (active()) queue_created(queue);
    usm_queue_made(queue);
  }
};
template <>
struct Hook<Fn::clCreateCommandQueueWithProperties> : Hook<Fn::clCreateCommandQueue> {};
template <>
struct Hook<Fn::clReleaseCommandQueue> : BeforeOnly {
  static void before(cl_command_queue queue) {
    if (active()) queue_releasing(queue);
    usm_queue_releasing(queue);
  }
};

struct BarrierHook : BeforeOnly {
  template <class... A>
  static void before(cl_command_queue queue, A...) {
    if (active()) barrier_enqueued(queue);
  }
};
template <>
struct Hook<Fn::clEnqueueBarrier> : BarrierHook {};
template <>
struct Hook<Fn::clEnqueueBarrierWithWaitList> : BarrierHook {};
template <>
struct Hook<Fn::clEnqueueWaitForEvents> : BarrierHook {};

// The driver gives up a wait when its device has vanished, or when what was waited for failed.
struct WaitHook : AfterOnly {
  template <class... A>
  static void after(cl_int err, A...) {
    if (err < 0) settle_staging();
  }
};
template <>
struct Hook<Fn::clFinish> : WaitHook {
  static void after(cl_int err, cl_command_queue queue) {
    WaitHook::after(err);
    if (err == CL_SUCCESS) queue_is_over(queue);
  }
};
template <>
struct Hook<Fn::clWaitForEvents> : WaitHook {
  static void after(cl_int err, cl_uint count, const cl_event* list) {
    WaitHook::after(err);
    if (err != CL_SUCCESS || !any_coming()) return;
    for (cl_uint i = 0; i < count; ++i) event_is_over(list[i]);
  }
};

template <>
struct Hook<Fn::clRetainEvent> : AfterOnly {
  static void after(cl_int err, cl_event event) {
    if (err == CL_SUCCESS) staged_event_retained(event);
  }
};
template <>
struct Hook<Fn::clReleaseEvent> : BeforeOnly {
  static void before(cl_event event) {
    staged_event_releasing(event);
    event_is_released(event);
  }
};
template <>
struct Hook<Fn::clGetEventInfo> : AfterOnly {
  static void after(cl_int err, cl_event event, cl_event_info what, size_t size, void* value, size_t*) {
    if (err != CL_SUCCESS) return;
    correct_event_info(event, what, size, value);
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && value && *static_cast<cl_int*>(value) == CL_COMPLETE)
      event_is_over(event);
  }
};
template <>
struct Hook<Fn::clGetEventProfilingInfo> : AfterOnly {
  static void after(cl_int err, cl_event event, cl_profiling_info what, size_t size, void* value, size_t*) {
    if (err == CL_SUCCESS) correct_profiling_info(event, what, size, value);
  }
};

// --- No real function: the library is missing, or older than the program ---

void set_error(cl_int* err) {
  if (err) *err = CL_INVALID_OPERATION;
}
template <class T>
void set_error(T) {}

template <Fn F, class R, class... A>
R unavailable(A... args) {
  constexpr cl_int NoPlatform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR
  (set_error(args), ...);
  if constexpr (std::is_same_v<R, cl_int>)
    return F == Fn::clGetPlatformIDs ? NoPlatform : CL_INVALID_OPERATION;
  else if constexpr (!std::is_void_v<R>)
    return nullptr;
}

template <class... A>
constexpr bool takes_queue = false;
template <class... A>
constexpr bool takes_queue<cl_command_queue, A...> = true;

template <class T>
constexpr bool is_handle = false;
template <>
constexpr bool is_handle<cl_device_id> = true;
template <>
constexpr bool is_handle<cl_context> = true;
template <>
constexpr bool is_handle<cl_command_queue> = true;
template <>
constexpr bool is_handle<cl_mem> = true;
template <>
constexpr bool is_handle<cl_event> = true;
template <>
constexpr bool is_handle<cl_kernel> = true;

// What is virtual is not a driver's here: no memory is pinned for it, nothing of it is staged.
template <class First, class... Rest>
bool concerns_virtual(First first, Rest...) {
  if constexpr (is_handle<First>)
    return is_virtual(first);
  else
    return false;
}
inline bool concerns_virtual() { return false; }

template <Fn F, class R, class... A>
R pass(R (*function)(A...), A... args) noexcept {
  if (__builtin_expect(!function, 0)) return unavailable<F, R>(args...);
  const Reentry inside;
  const Unwatched unwatched;
  if (inside.outermost()) settle_pins();
  if (concerns_virtual(args...)) return function(args...);
  if constexpr (takes_queue<A...>) note_queue_user();
  if constexpr (requires(R* result) { Hook<F>::instead(result, args...); }) {
    if (R result{}; Hook<F>::instead(&result, args...)) return result;
  }
  Hook<F>::before(args...);
  if constexpr (std::is_void_v<R>) {
    function(args...);
  } else {
    const R result = function(args...);
    Hook<F>::after(result, args...);
    return result;
  }
}

// Hands pass() its arguments as the prototype declares them.
template <Fn F, class R, class... A>
struct Passer {
  R (*function)(A...);
  R operator()(A... args) const noexcept {
    if constexpr (!std::is_base_of_v<Straight, Hook<F>>)
      return pass<F, R, A...>(function, args...);
    else
      return __builtin_expect(function != nullptr, 1) ? function(args...) : unavailable<F, R>(args...);
  }
};
template <Fn F, class R, class... A>
Passer<F, R, A...> passer(R (*function)(A...)) {
  return {function};
}

__attribute__((constructor)) void join_halves() {
  unpin_hook = [](PinToken token) {
    if (!runtime.in_forked_child()) unpin(token);
    return true;
  };
  ::pthread_atfork(lock_staged_events, unlock_staged_events, unlock_staged_events);
  ::pthread_atfork(lock_copied_memory, unlock_copied_memory, unlock_copied_memory);
  ::pthread_atfork(lock_svm_memory, unlock_svm_memory, unlock_svm_memory);
  ::pthread_atfork(lock_drivers_memory, unlock_drivers_memory, unlock_drivers_memory);
}

}  // namespace
}  // namespace gt::opt

#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE)                              \
  extern "C" __attribute__((visibility("default"))) RET CL_API_CALL NAME PARAMS { \
    return gt::opt::passer<gt::opt::Fn::NAME>(GT_REAL(NAME)) ARGS;                \
  }
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
