// What a replay found, for people and for machines.
// Thread safety: none.
#pragma once

#include <string>

#include "tracer/gtrace/replay/run.h"

namespace gt::tracer {

struct ReportOptions {
  bool json = false, timing = false;
};

// REQUIRES: no thread replays any more.
std::string replay_report(const ReplayWorld& world, const RunTimes& times, const ReportOptions& options);

}  // namespace gt::tracer
