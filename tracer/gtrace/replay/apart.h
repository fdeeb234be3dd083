// A replay in a process of its own, which may crash as the recorded program did.
// Thread safety: none; called before there are threads.
#pragma once

#include <functional>
#include <string>

#include "tracer/gtrace/replay/run.h"

namespace gt::tracer {

// The exit status that `body` gives; 128 + a signal that ended it, with a line that names the last call.
int run_apart(const std::string& trace_path, const std::function<int(LastCall&)>& body);

// For RunOptions: says what failed, and ends the process of the replay.
std::function<void(const Status&)> give_up_with(const std::string& trace_path);

}  // namespace gt::tracer
