// What a replay found, for people and for machines.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/gtrace/replay/run.h"

namespace gt::tracer {

struct ReportOptions {
  bool json = false, timing = false;
  // Times of the same replay before: with transfers that block as they did, and with those that go on. None: this one
  // is as it was recorded.
  std::vector<uint64_t> blocking_ns, going_on_ns;
};

// REQUIRES: no thread replays any more.
std::string replay_report(const ReplayWorld& world, const RunTimes& times, const ReportOptions& options);

}  // namespace gt::tracer
