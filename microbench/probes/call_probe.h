// What each OpenCL call costs its caller on a device: the table by which VOCL compares local and remote devices.
//
// A call that costs less than a clock's step is timed in rows; what makes and what releases an object are timed apart.
// "... + clFinish" and the blocking transfers contain the way to the device and back; a chain is what each launch of an
// in-order queue adds when nobody waits in between. Thread safety: none.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "microbench/base/cl_session.h"
#include "microbench/base/sampler.h"

namespace gt::bench {

constexpr std::array<std::string_view, 18> CallNames = {
    "clGetDeviceInfo",
    "clCreateBuffer",
    "clReleaseMemObject",
    "clBuildProgram",
    "clCreateKernel",
    "clReleaseKernel",
    "clSetKernelArg, number",
    "clSetKernelArg, buffer",
    "clEnqueueNDRangeKernel",
    "launch + clFinish",
    "launch in a chain",
    "launch with a new argument in a chain",
    "clEnqueueWriteBuffer, 4 bytes, blocking",
    "clEnqueueReadBuffer, 4 bytes, blocking",
    "clEnqueueMarkerWithWaitList",
    "clGetEventInfo",
    "clCreateUserEvent, set, release",
    "clFinish, nothing to do",
};

// Nothing: the device cannot do it.
using CallCosts = std::array<std::optional<model::Median>, CallNames.size()>;

// An error when the device failed.
Result<CallCosts> measure_calls(const Session& session, const Pace& pace);

}  // namespace gt::bench
