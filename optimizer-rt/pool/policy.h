// Which policy an allocation site gets: the cost model of Margiolas & O'Boyle, section 5.3, over
// the measured curves.
//
//   cost(policy) = fresh * allocation(policy, size) + transfers * communication(policy, transfer
//   size)
//
// summed over the profile's allocations of the site. `fresh` counts the allocations that find no
// memory to reuse: all of them for a few, or (the C library returns large blocks to the system) for
// standard blocks above 32 MiB; else a handful, whichever allocator is asked. A policy must win by
// 5 % and by more than the curves' noise; and a plan as a whole must promise more than starting it
// costs. Otherwise the answer is "nothing to gain". Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/model/platform.h"
#include "traces/model/profile.h"

namespace gt::opt {

constexpr double LeastGain = 0.05;  // of the standard policy's cost
constexpr double LeastTotal_s =
    0.030;  // what all sites together must promise: twice what injecting costs

// What the profile expects of one site, per allocation.
struct Expectation {
  double allocations = 0;
  double size = 0;           // bytes
  double transfers = 0;      // per allocation
  double transfer_size = 0;  // bytes
  double to_device = 0.5;    // share of the transferred bytes
};
Expectation expectation_of(const model::ProfileSite& site);

// Seconds for everything the profile expects of the site. Nothing when the device lacks the policy,
// or refuses it at this size.
std::optional<double> predicted_s(const model::DeviceCosts& device, model::Policy policy,
                                  const Expectation& e);

struct SiteDecision {
  model::Policy policy = model::Policy::Standard;
  uint32_t pin_on = 0;  // bit i: device i gains
  double saved_s = 0;   // against standard, on the device that gains most
  std::string why;
};
struct Decision {
  std::vector<SiteDecision> sites;  // parallel to the profile's
  double saved_s = 0;
  bool worth_it = false;  // something is not standard, and saves enough (or is forced)
};
// `forced`: every site gets it, gain or not. A site's own policy in the profile, if it is not auto,
// comes next.
Decision decide(const model::Platform& platform, const model::Profile& profile,
                std::optional<model::Policy> forced);

}  // namespace gt::opt
