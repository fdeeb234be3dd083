// Replays of a trace by gtrace beside this program, timed.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt::analyzer {

// One replay's answer, or those of a pair.
struct ReplayTimes {
  std::vector<double> as_recorded_s, otherwise_s;
  bool contents = false;  // the trace has the data of the program
  bool differs = false;   // a result was another one
};

// `turns` pairs, after one replay of each that does not count: as recorded, and with memory of `policy`; which comes
// first alternates. Unsupported: no gtrace is there, or it cannot replay this trace; the text says why.
Result<ReplayTimes> time_policy(const std::string& trace, const std::string& policy, size_t turns);
// The same by gtrace replay --overlap, which makes its own turns. `moved`: how many transfers were made otherwise.
Result<ReplayTimes> time_overlap(const std::string& trace, uint64_t& moved);

}  // namespace gt::analyzer
