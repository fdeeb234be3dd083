// The functions of cl_intel_unified_shared_memory, as C functions of the one emulation of a process: what whoever gives
// out a driver's functions by their names gives out where the driver has none.
//
// Who does that also shows EmulatedUsm what it must see besides: launches, clSetKernelExecInfo, kernels and queues that
// are made, retained and released; and adds the extension and its capabilities to what devices tell (emulated_usm.h).
// Thread safety: provide() before any of the functions is called; the functions themselves: all. They throw nothing.
#pragma once

#include "transport/usm/emulated_usm.h"

namespace gt::usm {

void provide(EmulatedUsm* emulated) noexcept;  // never ends
void* function(const char* name) noexcept;     // nullptr: none of the extension's
// clSetKernelExecInfo of a driver that has none of it.
cl_int CL_API_CALL set_exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void* value) noexcept;

}  // namespace gt::usm
