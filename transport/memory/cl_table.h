// The OpenCL functions that the memory mechanisms call, as pointers: injected code hands in the
// real loader's, programs that link the loader hand in its symbols. The mechanisms therefore never
// go through our own wrappers. Invariant: every pointer is set once complete() holds.
#pragma once

#include <CL/cl.h>

namespace gt::memory {

struct ClTable {
  decltype(&::clCreateBuffer) create_buffer = nullptr;
  decltype(&::clReleaseMemObject) release_mem_object = nullptr;
  decltype(&::clEnqueueMapBuffer) enqueue_map_buffer = nullptr;
  decltype(&::clEnqueueUnmapMemObject) enqueue_unmap_mem_object = nullptr;
  decltype(&::clFinish) finish = nullptr;

  bool complete() const {
    return create_buffer && release_mem_object && enqueue_map_buffer && enqueue_unmap_mem_object &&
           finish;
  }
};

}  // namespace gt::memory
