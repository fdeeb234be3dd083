// What happens at a transfer between host memory and a device: pool memory that is not pinned yet is pinned now, other
// memory is staged where that pays, and all is counted for the report.
//
// Pool memory is pinned span by span on the span's first transfer: a program whose pooled memory is
// never transferred pays nothing, and one that allocates before it has a context loses nothing; the call itself goes to
// the driver as the program made it.
// Thread safety: all functions. Cost: two comparisons for small memory that is not ours, about 80 ns for
// pinned memory.
#pragma once

#include <CL/cl.h>

#include "optimizer-rt/cl/transfer_call.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

// True: the transfer is done or under way, `*error` is the call's result. False: the driver's turn.
bool transfer(const TransferCall& call, cl_int* error) noexcept;
// The call was made, by staging or by the driver, and went well.
void transferred(const TransferCall& call) noexcept;
// Memory that a memory object is to be made from (CL_MEM_COPY_HOST_PTR). False: the driver's own way is the only one.
bool before_copy_in(const void* host, size_t bytes) noexcept;
// The driver makes it. Only then is pool memory pinned for that: drivers copy such memory slowly, pinned or not, and
// staging it is faster (docs/measurements/h200.md).
void left_to_copy_in(cl_context context, const void* host, size_t bytes) noexcept;

// The program has made its first context: the time to get memory of the driver's, if the plan wants
// some.
void provide_driver_memory(cl_context context) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
