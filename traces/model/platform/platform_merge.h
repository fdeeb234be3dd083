// Measuring some devices again: what of an older platform file of the same machine stays beside it.
// Thread safety: pure functions.
#pragma once

#include "traces/model/platform/platform.h"

namespace gt::model {

// All that is known of a device by its platform, name and driver; null, false: nothing.
const DeviceCosts* costs_of(const Platform& platform, const DeviceCosts& device);
bool has_costs(const Platform& platform, const FailedDevice& device);
bool has_costs(const Platform& platform, const DeviceName& device);
const FailedDevice* failure_of(const Platform& platform, const DeviceName& device);
const UnfinishedDevice* unfinished_of(const Platform& platform, const DeviceName& device);

inline DeviceName name_of(const DeviceCosts& d) { return {d.platform, d.name, d.driver}; }

// Which devices somebody wanted measured.
enum class Wanted : uint8_t {
  All,
  Missing,  // those without costs in the older file
  Chosen,   // one of them
};

// `fresh`, and of `before`
// - the links that `fresh` does not have;
// - the devices that were not to be measured, or failed now, or were measured in full while `fresh` is quick;
// - the failures of devices that were not to be measured;
// - what is unfinished, unless all were to be measured;
// - the names of unused devices, if only one was to be measured and `fresh` is unlisted.
// What is known better is in no other list: a device that has costs neither failed, nor is it unfinished or unused.
// REQUIRES: both are of the same machine.
Platform merge_platforms(const Platform& fresh, const Platform& before, Wanted wanted);

}  // namespace gt::model
