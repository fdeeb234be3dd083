// Which policy each allocation site of a profile gets: by the cost model (traces/model/profile/policy_costs.h), unless
// somebody demands one. A plan as a whole must promise more than starting it costs; otherwise the answer is "nothing to
// gain".
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/model/platform/platform.h"
#include "traces/model/profile/policy_costs.h"
#include "traces/model/profile/profile.h"

namespace gt::opt {

constexpr double LeastTotal_s = 0.030;  // what all sites together must promise: twice what injecting costs

// What the run measures the choice by (trial_account.h), as in PlanSite.
struct SiteTerms {
  uint64_t margin_ns = 0;
  double reuse_ns_per_byte = 0, lock_ns_per_byte = 0;
  uint64_t other_sizes = 0;
};

struct SiteDecision {
  model::Policy policy = model::Policy::Standard;
  uint32_t pin_on = 0;  // bit i: device i gains
  double saved_s = 0;   // against standard, on the device that gains most
  std::string why;
  SiteTerms terms = {};  // margin 0: demanded, whatever it costs
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
// Executors of this node read and write pool memory in place: sites that feed transfers and have no better policy get
// `pin`, on trial as others.
void serve_executors(Decision& decision, const model::Profile& profile);
// The same sites, all with the standard policy, and why.
Decision leave_all(const Decision& decision);

}  // namespace gt::opt
