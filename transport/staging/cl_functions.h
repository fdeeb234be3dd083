// The OpenCL functions that staging calls, as pointers: injected code hands in the real loader's, programs that link
// the loader hand in its symbols. Staging therefore never goes through our own wrappers.
// Invariant: every pointer is set once complete() holds; an OpenCL 1.1 loader lacks some, and nothing is staged then.
#pragma once

#include <CL/cl.h>

namespace gt::staging {

#define GT_STAGING_FUNCTIONS(X)                                                                                       \
  X(clCreateBuffer) X(clRetainMemObject) X(clReleaseMemObject) X(clCreateCommandQueue) X(clReleaseCommandQueue)       \
  X(clEnqueueWriteBuffer) X(clEnqueueReadBuffer) X(clEnqueueWriteBufferRect) X(clEnqueueReadBufferRect)               \
  X(clEnqueueWriteImage) X(clEnqueueReadImage) X(clEnqueueMarkerWithWaitList) X(clCreateUserEvent)                    \
  X(clSetUserEventStatus) X(clFlush) X(clWaitForEvents) X(clReleaseEvent) X(clRetainEvent) X(clGetEventInfo)          \
  X(clGetEventProfilingInfo)

struct ClFunctions {
#define GT_X(f) decltype(&::f) f = nullptr;
  GT_STAGING_FUNCTIONS(GT_X)
#undef GT_X
  decltype(&::clEnqueueSVMMemcpy) clEnqueueSVMMemcpy = nullptr;  // of OpenCL 2.0: for moves of that shape only

  bool complete() const noexcept {
    bool all = true;
#define GT_X(f) all = all && f;
    GT_STAGING_FUNCTIONS(GT_X)
#undef GT_X
    return all;
  }
};

// Where nothing else can be done: a driver that is short of something may not be so the next time.
template <class Call>
bool insist(Call call) noexcept {
  constexpr int MostTries = 100;
  for (int tries = 0; tries < MostTries; ++tries)
    if (call() == CL_SUCCESS) return true;
  return false;
}

}  // namespace gt::staging
