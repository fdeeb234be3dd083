// The functions of cl_intel_unified_shared_memory, as C functions of an emulation: what whoever gives out a driver's
// functions by their names gives out where the driver has none.
//
// Who does that also shows EmulatedUsm what it must see besides: launches, clSetKernelExecInfo, kernels and queues that
// are made, retained and released; and adds the extension and its capabilities to what devices tell (emulated_usm.h).
// Thread safety: all; provide() before any of the emulation's functions is asked for. They throw nothing.
#pragma once

#include "transport/usm/emulated_usm.h"

namespace gt::usm {

constexpr size_t MostEmulations = 8;  // of a process: one for each driver

// Never ends. False: there are so many.
bool provide(EmulatedUsm& emulated) noexcept;
// REQUIRES, both: provided. nullptr: none of the extension's.
void* function(const EmulatedUsm& emulated, const char* name) noexcept;
// clSetKernelExecInfo of a driver that has none of it.
decltype(&clSetKernelExecInfo) exec_info_function(const EmulatedUsm& emulated) noexcept;

}  // namespace gt::usm
