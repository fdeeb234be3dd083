// What the platform file says of devices that could not be measured: whether they are tried again, and why they have
// no costs. A device that was in use once must not stay unmeasured for ever; one that always fails must not cost every
// run.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "traces/model/platform.h"

namespace gt::opt {

constexpr uint64_t TriedAgainAfter_s = 24 * 3600;

// In the place of a device's name: the measurement did not come back. It is not tried again: that costs a minute.
constexpr const char* GivenUp = "first measurement";
bool was_given_up(const model::Platform& platform);

// Has a device no costs because it failed long enough before `now_s`?
bool due_again(const model::Platform& platform, uint64_t now_s);

// "NAME could not be measured on 2026-11-22: ERROR", of the first device without costs; empty: none failed.
std::string failure_text(const model::Platform& platform);

}  // namespace gt::opt
