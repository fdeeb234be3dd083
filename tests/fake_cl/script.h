// What the environment tells the fake driver to do.
//
//   FAKE_CL_FAIL="clEnqueueWriteBuffer:3=-5,clCreateBuffer=-4"   the 3rd call returns -5; every call returns -4
//   FAKE_CL_SAY=1                   a line on stderr for each of these failures
//   FAKE_CL_DELAY="clEnqueueReadBuffer=2ms,clFinish=50us"        each call takes that long before it works
//   FAKE_CL_KERNEL_NS=1000          device time of a launch
//   FAKE_CL_VENDOR_ID=4318          of the device, 1 without it
// A word that cannot be read ends the process with one line and status 2: a test must not run
// something else. Thread safety: yes.
#pragma once

#include <cstdint>

namespace gt::fake {

// Counts the call, waits as scripted, and returns the error to give, 0 for none.
int scripted_call(uint16_t fn, const char* name);

uint64_t kernel_ns();
uint32_t vendor_id();

}  // namespace gt::fake
