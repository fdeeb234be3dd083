// On which memory node the pools' memory should be: on that of the program's devices.
#pragma once

#include <CL/cl.h>

#pragma GCC visibility push(hidden)

namespace gt::opt {

// The program has made a context. Nothing happens on machines with one node. Thread safety: yes.
void place_pools_near(cl_context context) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
