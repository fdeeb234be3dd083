// Measuring some devices again: what of an older platform file of the same machine stays beside it.
// Thread safety: pure functions.
#pragma once

#include "traces/model/platform.h"

namespace gt::model {

// The costs of a device of the same platform, name and driver; null: there are none.
const DeviceCosts* costs_of(const Platform& platform, const DeviceCosts& device);
bool has_costs(const Platform& platform, const FailedDevice& device);

// Which devices somebody wanted measured.
enum class Wanted : uint8_t {
  All,
  Missing,  // those without costs in the older file
  Chosen,   // one of them
};

// `fresh`, and of `before`
// - the links that `fresh` does not have;
// - the devices that were not to be measured, or failed now, or were measured in full while `fresh` is quick;
// - the failures of devices that were not to be measured.
// REQUIRES: both are of the same machine.
Platform merge_platforms(const Platform& fresh, const Platform& before, Wanted wanted);

}  // namespace gt::model
