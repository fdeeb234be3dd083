// What happens before a transfer between host memory and a device: pool memory that is not pinned
// yet is pinned now, and what was transferred is counted for the report.
//
// Memory is pinned span by span on the span's first transfer: a program whose pooled memory is
// never transferred pays nothing, and one that allocates before it has a context loses nothing. A
// transfer's own semantics are never touched: the call goes to the driver as the program made it.
// Thread safety: all functions. Cost: two comparisons for memory that is not ours, about 80 ns for
// pinned memory.
#pragma once

#include <CL/cl.h>

#include <cstddef>

#include "optimizer-rt/pool/counters.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

// One host side of a transfer. `span` bytes lie between its first and last byte, `bytes` of them
// are moved.
struct HostRange {
  const void* base = nullptr;
  size_t span = 0;
  size_t bytes = 0;
};
HostRange contiguous(const void* p, size_t bytes) noexcept;
// `region` and `origin` may be NULL, as in a wrong call: the range is empty then.
HostRange rectangle(const void* p, const size_t* origin, const size_t* region, size_t row_pitch,
                    size_t slice_pitch) noexcept;
HostRange image_region(cl_mem image, const void* p, const size_t* region, size_t row_pitch,
                       size_t slice_pitch) noexcept;

void before_transfer(cl_command_queue queue, Way way, const HostRange& range) noexcept;
// A buffer made from existing memory (CL_MEM_COPY_HOST_PTR).
void before_copy_in(cl_context context, const HostRange& range) noexcept;

// The program has made its first context: the time to get memory of the driver's, if the plan wants
// some.
void provide_driver_memory(cl_context context) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
