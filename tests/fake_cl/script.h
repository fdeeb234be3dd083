// What the environment tells the fake driver to do.
//
//   FAKE_CL_FAIL="clEnqueueWriteBuffer:3=-5,clCreateBuffer=-4"   the 3rd call returns -5; every call returns -4
//   FAKE_CL_LOST="57=-36"           the device vanishes: the process's 57th call, of whatever function, and all
//                                   after it return -36
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

// What every call gives since the device has vanished; 0: it is there. Waiting for it ends, too.
int loss();

uint64_t kernel_ns();
uint32_t vendor_id();

}  // namespace gt::fake
