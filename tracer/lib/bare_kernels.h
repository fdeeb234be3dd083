// Native kernels without arguments: functions of ours that the driver calls in the place of the program's.
//
// Where a native kernel has arguments, its registration travels in front of them (callbacks.cc). Without any the driver
// passes what it likes, NULL (PoCL) or a pointer of its own (Intel's runtime), which the program must be given as it
// is. So each that is under way has a function of its own, which knows its registration.
//
// Thread safety: any thread; no lock.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <cstdint>

#include "tracer/lib/registration.h"

namespace gt::tracer {

using NativeFn = void(CL_CALLBACK*)(void*);

constexpr size_t MaxBareKernels = 256;  // under way at once; beyond that they go unrecorded

// For one call by the driver of what `registration` stands for. nullptr: all are taken.
NativeFn take_bare_kernel(Registration& registration);
// The driver refused the call. Does nothing where the registration has none.
void free_bare_kernel(uint64_t id);

}  // namespace gt::tracer
