// Host memory whose transfers are fastest by the driver's own way: what it has mapped for the program, what a buffer
// lies over (CL_MEM_USE_HOST_PTR), shared virtual memory. Drivers pin it; staging would copy it once more
// (docs/measurements/h200.md).
//
// Mapped memory counts from the map until it is unmapped; what a buffer lies over, until the program's last reference
// to it. What the tables have no room for is treated like any other memory.
// Thread safety: all functions, but lock and unlock, which are for fork(). Cost: three loads while there is none.
#pragma once

#include <CL/cl.h>

#include "optimizer-rt/cl/transfer_call.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

void memory_mapped(const void* p, size_t bytes) noexcept;
void memory_unmapped(const void* p) noexcept;

void buffer_made_over(cl_mem buffer, const void* host, size_t bytes) noexcept;
void buffer_over_retained(cl_mem mem) noexcept;
void buffer_over_releasing(cl_mem mem) noexcept;

bool is_drivers(const HostRange& range) noexcept;

void lock_drivers_memory() noexcept;
void unlock_drivers_memory() noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
