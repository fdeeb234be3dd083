// The OpenCL symbols that the program links to: each goes to the real loader, some with a hook
// before or after.
//
// The thread is marked as inside for the length of the call, so that what the driver allocates is
// not taken for the program's. Cost: two TLS increments and one indirect call, below 5 ns.
#include "optimizer-rt/cl/contexts.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/transfers.h"
#include "optimizer-rt/pool/runtime.h"
#include "traces/base/reentry.h"

namespace gt::opt {
namespace {

// By default nothing happens before or after a call. Specializations are the hooks.
template <Fn F>
struct Hook {
  template <class... A>
  static void before(A...) {}
  template <class R, class... A>
  static void after(R, A...) {}
};

struct BeforeOnly {
  template <class R, class... A>
  static void after(R, A...) {}
};
struct AfterOnly {
  template <class... A>
  static void before(A...) {}
};

// --- Transfers ---

template <>
struct Hook<Fn::clEnqueueWriteBuffer> : BeforeOnly {
  static void before(cl_command_queue q, cl_mem, cl_bool, size_t, size_t bytes, const void* p,
                     cl_uint, const cl_event*, cl_event*) {
    before_transfer(q, HostToDevice, contiguous(p, bytes));
  }
};
template <>
struct Hook<Fn::clEnqueueReadBuffer> : BeforeOnly {
  static void before(cl_command_queue q, cl_mem, cl_bool, size_t, size_t bytes, void* p, cl_uint,
                     const cl_event*, cl_event*) {
    before_transfer(q, DeviceToHost, contiguous(p, bytes));
  }
};
template <>
struct Hook<Fn::clEnqueueWriteBufferRect> : BeforeOnly {
  static void before(cl_command_queue q, cl_mem, cl_bool, const size_t*, const size_t* origin,
                     const size_t* region, size_t, size_t, size_t row, size_t slice, const void* p,
                     cl_uint, const cl_event*, cl_event*) {
    before_transfer(q, HostToDevice, rectangle(p, origin, region, row, slice));
  }
};
template <>
struct Hook<Fn::clEnqueueReadBufferRect> : BeforeOnly {
  static void before(cl_command_queue q, cl_mem, cl_bool, const size_t*, const size_t* origin,
                     const size_t* region, size_t, size_t, size_t row, size_t slice, void* p,
                     cl_uint, const cl_event*, cl_event*) {
    before_transfer(q, DeviceToHost, rectangle(p, origin, region, row, slice));
  }
};
template <>
struct Hook<Fn::clEnqueueWriteImage> : BeforeOnly {
  static void before(cl_command_queue q, cl_mem image, cl_bool, const size_t*, const size_t* region,
                     size_t row, size_t slice, const void* p, cl_uint, const cl_event*, cl_event*) {
    before_transfer(q, HostToDevice, image_region(image, p, region, row, slice));
  }
};
template <>
struct Hook<Fn::clEnqueueReadImage> : BeforeOnly {
  static void before(cl_command_queue q, cl_mem image, cl_bool, const size_t*, const size_t* region,
                     size_t row, size_t slice, void* p, cl_uint, const cl_event*, cl_event*) {
    before_transfer(q, DeviceToHost, image_region(image, p, region, row, slice));
  }
};

void copy_in(cl_context context, cl_mem_flags flags, size_t size, void* host) {
  if (flags & CL_MEM_COPY_HOST_PTR) before_copy_in(context, contiguous(host, size));
}
template <>
struct Hook<Fn::clCreateBuffer> : BeforeOnly {
  static void before(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int*) {
    copy_in(context, flags, size, host);
  }
};
template <>
struct Hook<Fn::clCreateBufferWithProperties> : BeforeOnly {
  static void before(cl_context context, const cl_mem_properties*, cl_mem_flags flags, size_t size,
                     void* host, cl_int*) {
    copy_in(context, flags, size, host);
  }
};

// --- Contexts ---

void made(cl_context context) {
  if (!context || !runtime.active()) return;
  context_created(context);
  provide_driver_memory(context);
}
template <>
struct Hook<Fn::clCreateContext> : AfterOnly {
  template <class... A>
  static void after(cl_context context, A...) {
    made(context);
  }
};
template <>
struct Hook<Fn::clCreateContextFromType> : Hook<Fn::clCreateContext> {};
template <>
struct Hook<Fn::clRetainContext> : AfterOnly {
  static void after(cl_int err, cl_context context) {
    if (err == CL_SUCCESS && runtime.active()) context_retained(context);
  }
};
template <>
struct Hook<Fn::clReleaseContext> : BeforeOnly {
  static void before(cl_context context) {
    if (runtime.active()) context_releasing(context);
  }
};
template <>
struct Hook<Fn::clGetContextInfo> : AfterOnly {
  static void after(cl_int err, cl_context context, cl_context_info what, size_t size, void* value,
                    size_t*) {
    if (what != CL_CONTEXT_REFERENCE_COUNT || err != CL_SUCCESS || !value || size < sizeof(cl_uint))
      return;
    if (runtime.active()) *static_cast<cl_uint*>(value) -= hidden_references(context);
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

template <Fn F, class R, class... A>
R pass(R (*function)(A...), A... args) noexcept {
  const Reentry inside;
  if (__builtin_expect(!function, 0)) return unavailable<F, R>(args...);
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
  R operator()(A... args) const noexcept { return pass<F, R, A...>(function, args...); }
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
