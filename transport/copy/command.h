// The command that a region means: host memory to or from a memory object, through a driver's own functions.
// Thread safety: no state. noexcept, no allocation: injected code uses it.
#pragma once

#include <span>

#include "transport/copy/region.h"
#include "transport/opencl/cl_functions.h"

namespace gt::copy {

// What a command moves between.
struct Ends {
  cl_mem mem = nullptr;
  void* svm = nullptr;  // in place of `mem`: from where the region, a range, is counted
  void* host = nullptr;
  size_t host_row_pitch = 0, host_slice_pitch = 0;  // 0: packed
  decltype(&::clEnqueueSVMMemcpy) svm_copy = nullptr;  // of unified shared memory its own; nullptr: that one
};

// REQUIRES: for `svm` without `svm_copy`, ClFunctions has clEnqueueSVMMemcpy.
cl_int enqueue(const ClFunctions& cl, cl_command_queue queue, Way way, cl_bool blocking, const Ends& ends,
               const Region& region, std::span<const cl_event> waits, cl_event* event) noexcept;

}  // namespace gt::copy
