// What a policy costs at an allocation site, by the measured curves: the cost model of Margiolas & O'Boyle,
// section 5.3, shared by the analyzer, which predicts, and the optimizer, which decides.
//
//   cost(policy) = fresh * allocation(policy, size) + transfers * communication(policy, transfer size)
//
// summed over the profile's allocations of the site. `fresh` counts the allocations that find no memory to reuse: all
// of them for a few, or (the C library returns large blocks to the system) for standard blocks above 32 MiB; else a
// handful, whichever allocator is asked. A policy must win by 5 % and by more than the curves' noise.
// Thread safety: pure functions.
#pragma once

#include <optional>

#include "traces/model/platform/platform.h"
#include "traces/model/profile/profile.h"

namespace gt::model {

constexpr double LeastGain = 0.05;  // of the standard policy's cost

// What the profile expects of one site, per allocation.
struct Expectation {
  double allocations = 0;
  double size = 0;           // bytes
  double transfers = 0;      // per allocation
  double transfer_size = 0;  // bytes
  double to_device = 0.5;    // share of the transferred bytes
};
Expectation expectation_of(const ProfileSite& site);

// Margiolas & O'Boyle's two functions: ns to obtain and give back one block of `size` bytes, and to transfer that much
// once, blocking; `to_device`: the share of transfers that go there. Nothing when the device lacks the policy; no block
// either where it refuses that size.
std::optional<double> allocation_overhead(const DeviceCosts& device, Policy policy, double size);
std::optional<double> communication_overhead(const DeviceCosts& device, Policy policy, double size, double to_device);
// Were both measured, and steady, at sizes like this? False when the device lacks the policy.
bool trusted(const DeviceCosts& device, Policy policy, double size);

// Seconds for everything the profile expects of the site. Nothing when the device lacks the policy, or refuses it at
// this size.
std::optional<double> predicted_s(const DeviceCosts& device, Policy policy, const Expectation& e);

struct PolicyChoice {
  Policy policy = Policy::Standard;
  double cost_s = 0, standard_s = 0;
  double saved_s() const { return standard_s - cost_s; }
};
// The policy that costs least; Standard when none gains. Nothing when the device has no standard costs.
std::optional<PolicyChoice> choose_policy(const DeviceCosts& device, const Expectation& e);

// Is `cost` less than `standard` by more than the least gain and the noise of both?
bool gains(const DeviceCosts& device, Policy policy, double cost, double standard);

}  // namespace gt::model
