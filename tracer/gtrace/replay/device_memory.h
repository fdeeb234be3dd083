// Buffers of a replay, read, kept and put back while everything else waits.
// Thread safety: as the queue that is given.
#pragma once

#include <CL/cl.h>

#include "tracer/gtrace/replay/opencl_library.h"
#include "traces/base/bytes.h"

namespace gt::tracer {

class DeviceMemory {
 public:
  explicit DeviceMemory(const OpenClLibrary& cl) : cl_(cl) {}

  Status finish(cl_command_queue queue) const;
  Result<size_t> size_of(cl_mem buffer) const;
  Status read(cl_command_queue queue, cl_mem buffer, Bytes& out) const;
  Status write(cl_command_queue queue, cl_mem buffer, ByteView bytes) const;

 private:
  const OpenClLibrary& cl_;
};

}  // namespace gt::tracer
