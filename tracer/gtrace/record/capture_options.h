// --capture, --capture-kernel, --capture-range, --capture-results: what is to be kept, and what came of it.
// Thread safety: functions without state.
#pragma once

#include <string>

#include "tracer/collect/spool_reader.h"
#include "traces/base/command_line.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

// Invalid: words that are none, or do not go together.
Status capture_options(const Options& options, SpoolReader::Options& spool);

// Of a recording that kept what was chosen: how much that was and what it cost, or that it never came. "": nothing was
// chosen.
std::string capture_line(const model::Trace& trace);

}  // namespace gt::tracer
