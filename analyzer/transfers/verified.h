// A choice that was tried by replays of the trace: what was predicted of it beside what was measured.
// Thread safety: values.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gt::analyzer {

struct Verified {
  std::string choice;              // "policy pin", "overlap": what was other in the replay
  std::vector<std::string> rules;  // of the findings that it is about
  std::optional<double> predicted_s;
  size_t turns = 0;                           // pairs of replays; 0: it could not be tried
  double as_recorded_s = 0, otherwise_s = 0;  // medians of the replays
  double saved_s = 0, least_s = 0, most_s = 0;  // of the differences of pairs: median, smallest, largest
  std::string note;                           // what it rests on; why it could not be tried
};

}  // namespace gt::analyzer
