// Whether placeholders work with a driver: some run commands in clFlush, on the thread that calls it, and come back
// only when the last of them is over (oclgrind does). Behind a placeholder that would be never: that thread is to open
// the placeholder.
//
// Tried with a queue of ours, in which one marker waits for a user event that another thread ends if nothing else does.
// Thread safety: yes. Cost: a queue and a thread for a moment, some 0.1 ms; Timeout_ms where placeholders do not work.
#pragma once

#include "transport/opencl/cl_functions.h"

namespace gt::staging {

constexpr uint32_t Timeout_ms = 1000;  // a busy machine is no such driver

// False: also where it could not be tried.
bool placeholders_work(const ClFunctions& cl, cl_context context, cl_device_id device) noexcept;

}  // namespace gt::staging
