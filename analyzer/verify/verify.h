// Tries what findings predict, as far as a replay of the trace can be made otherwise.
//
//   pageable-transfers, first-touch, allocation-churn   memory of the policy that the costs speak for, else pinned
//   no site to name                                     all transfers staged, where that is predicted to save
//   missed-overlap, or blocking transfers               reads and writes that go on (gtrace replay --overlap)
//
// Thread safety: none. Cost: some twenty replays.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "traces/model/profile/profile.h"

namespace gt::analyzer {

// In that order; those of which there is nothing to try are left out.
std::vector<Verified> verify_findings(const Analysis& analysis, const model::Profile& profile,
                                      const std::string& trace);

}  // namespace gt::analyzer
