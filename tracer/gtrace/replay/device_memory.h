// Memory objects and allocations of a replay, read, kept and put back while everything else waits.
// Thread safety: as the queue that is given.
#pragma once

#include <CL/cl.h>

#include "tracer/gtrace/replay/opencl_library.h"
#include "traces/base/bytes.h"

namespace gt::tracer {

class DeviceMemory {
 public:
  explicit DeviceMemory(const OpenClLibrary& cl) : cl_(cl) {}

  // Of all of an object; of a buffer the region is its bytes.
  struct Extent {
    size_t region[3] = {0, 1, 1};
    size_t bytes = 0;
    bool image = false;
  };
  Result<Extent> extent_of(cl_mem object) const;
  Status finish(cl_command_queue queue) const;
  // Images: all of them, row by row without gaps.
  Status read(cl_command_queue queue, cl_mem object, Bytes& out) const;
  Status write(cl_command_queue queue, cl_mem object, ByteView bytes) const;
  // Shared virtual memory, or (`platform`'s) unified shared memory.
  Status copy(cl_command_queue queue, void* to, const void* from, size_t size, cl_platform_id usm = nullptr) const;

 private:
  Result<size_t> size_of(cl_mem buffer) const;
  Status wait(cl_command_queue queue, const char* what, cl_int code, cl_event event) const;
  cl_mem stand_in(cl_mem buffer, size_t size) const;
  Status copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t size) const;

  const OpenClLibrary& cl_;
};

}  // namespace gt::tracer
