// How a range of host memory becomes fast for transfers: the mechanisms, one function each.
//
// What each is worth is a property of the driver, measured by gmicrobench; choosing is the
// optimizer's work. Pinned memory is fast in every context of the process and at any offset, but
// only for transfers that lie wholly inside one pinned range. Success of a call does not prove
// speed (a file mapping reports success and stays slow). Ownership: what pin/map gives must go back
// by unpin/unmap, before the memory is unmapped. Thread safety: all functions may be called from
// any thread; the caller orders calls on one range. Depends on libc and the given OpenCL functions
// only; allocates nothing itself. All noexcept: injected code uses it.
#pragma once

#include <cstddef>

#include "transport/opencl/cl_functions.h"

namespace gt::memory {

constexpr size_t HugePage = size_t{2} << 20;

// Anonymous private memory, aligned to huge pages, advised to use them; not yet touched. nullptr:
// refused (errno).
void* map_huge(size_t bytes) noexcept;
void unmap_huge(void* base, size_t bytes) noexcept;

// Keeps the pages resident. 0, or errno (EPERM, ENOMEM: RLIMIT_MEMLOCK).
int lock_range(void* base, size_t bytes) noexcept;

// Tells the driver of existing memory (CL_MEM_USE_HOST_PTR). The buffer keeps a reference to
// `context`.
cl_int pin_in_place(const ClFunctions& cl, cl_context context, void* base, size_t bytes,
                    cl_mem* out) noexcept;
void unpin(const ClFunctions& cl, cl_mem pin) noexcept;

// The driver's own host memory (CL_MEM_ALLOC_HOST_PTR), mapped for as long as the object lives.
struct DriverMemory {
  cl_mem mem = nullptr;
  void* base = nullptr;
  size_t bytes = 0;
};
cl_int map_driver_memory(const ClFunctions& cl, cl_context context, cl_command_queue queue,
                         size_t bytes, DriverMemory* out) noexcept;
void unmap_driver_memory(const ClFunctions& cl, cl_command_queue queue, DriverMemory* memory) noexcept;

}  // namespace gt::memory
