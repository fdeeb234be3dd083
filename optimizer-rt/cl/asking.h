// Before the program makes a context on a device of this machine whose costs nobody knows goptimize is asked to measure
// it. Before, not after, because a device may belong to one process alone. Only contexts that the program itself makes
// count, in a process that we optimize. Threads that make contexts at the same time wait for the one who asks.
// Thread safety: all functions. Cost when there is nothing to ask: one load.
#pragma once

#include <CL/cl.h>

#pragma GCC visibility push(hidden)

namespace gt::opt {

// As clCreateContext and clCreateContextFromType were called; what is wrong with that is the driver's to say.
void learn_devices(cl_uint count, const cl_device_id* devices) noexcept;
void learn_devices_of_type(const cl_context_properties* properties, cl_device_type type) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
