// What the platform file says of devices without costs: whether they are measured when a program opens them, and why
// they have none. A device that was in use once must not stay unmeasured for ever; one that always fails must not cost
// every run.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "traces/model/platform/platform.h"

namespace gt::opt {

constexpr uint64_t TriedAgainAfter_s = 24 * 3600;

// Has the device no costs, and is it worth a try: it did not fail, or long enough before `now_s`, and was not given up.
bool may_be_measured(const model::Platform& platform, const model::DeviceName& device, uint64_t now_s);

// May the program open a device for which that is so?
bool may_be_incomplete(const model::Platform& platform, uint64_t now_s);

// "NAME could not be measured on 2026-11-22: ERROR", of the first device without costs; empty: none failed.
std::string failure_text(const model::Platform& platform);

// When what failed is tried again: " (...)".
std::string next_try_text(const model::Platform& platform);

}  // namespace gt::opt
