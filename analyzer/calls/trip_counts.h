// The loops of a trace's OpenCL calls and how often each goes round, for comparing traces.
#pragma once

#include <string>
#include <vector>

#include "analyzer/code/call_site.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct LoopTrips {
  std::string name;   // "loop of 6 calls at main (vadd.cc:88)"
  std::string trips;  // "50", or "varies"
  // Equal for the same loop: by the functions in it and their places, or, between builds, the functions alone.
  uint64_t exact_key = 0, loose_key = 0;
};

// In the order of the calls, outer loops before inner ones. Cost: O(folded trace).
std::vector<LoopTrips> find_trip_counts(const model::Trace& trace, CallSites& sites);

}  // namespace gt::analyzer
