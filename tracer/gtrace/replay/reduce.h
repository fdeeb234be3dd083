// gtrace replay --reduce: the fewest calls of a recording that still show a difference, a failure or a crash.
// Thread safety: none.
#pragma once

#include <string>

#include "tracer/gtrace/replay/replay_trial.h"

namespace gt::tracer {

struct ReduceOptions {
  TrialOptions trial;
  std::string output;
  uint64_t tries = 0, seconds = 0;  // at most
  bool json = false;
};

// Gives the exit status. What has been found is written also after Ctrl-C.
int reduce_trace(const OpenedTrace& opened, const ReduceOptions& options);

}  // namespace gt::tracer
