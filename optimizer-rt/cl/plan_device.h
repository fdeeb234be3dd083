// The plan's number of a device: by name and driver version.
// Thread safety: all functions.
#pragma once

#include <CL/cl.h>

#include <cstring>

#include "optimizer-rt/pool/counters.h"
#include "optimizer-rt/pool/plan.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

constexpr int NoDevice = -1;
// NoDevice: the plan does not name it. Remembered, because asking the driver takes microseconds.
int plan_device(cl_device_id device) noexcept;
// The same question without being remembered: nothing was transferred yet.
bool is_planned(cl_device_id device) noexcept;
// The plan names more devices than before.
void plan_has_changed() noexcept;
// Takes the spaces from the end of what a driver said: the platform file has none. False: it does not fit, or is empty.
template <size_t N>
bool trim_text(char (&text)[N]) noexcept {
  size_t length = strnlen(text, N);
  if (length == N) return false;
  while (length > 0 && text[length - 1] == ' ') text[--length] = 0;
  return length > 0;
}
// What transfers cost there; valid as long as the process lives. REQUIRES: the plan names it.
const WayCosts& way_costs(int device, Way way) noexcept;

struct Devices {
  size_t count = 0;
  cl_device_id list[32] = {};
};
// Empty: it is none, or has too many.
Devices devices_of(cl_context context) noexcept;
// nullptr: it has none, or is none.
cl_device_id first_device(cl_context context) noexcept;
// nullptr: it has several, or a part of one.
cl_device_id only_device(cl_context context) noexcept;
cl_platform_id platform_of(cl_context context) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
