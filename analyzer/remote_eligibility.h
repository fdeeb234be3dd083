// Can the program's devices be remote ones? What it uses that cannot go over a link.
#pragma once

#include <string>
#include <vector>

#include "traces/model/event.h"

namespace gt::analyzer {

struct RemoteEligibility {
  bool eligible = true;
  std::vector<std::string> reasons;  // what stands against it; empty when eligible
};

// Cost: O(shapes), and O(folded trace) when shared virtual memory is used.
RemoteEligibility find_remote_eligibility(const model::Trace& trace);

}  // namespace gt::analyzer
