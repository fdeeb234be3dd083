// A replay in a process of its own, which may crash as the recorded program did, and which may do with files what
// confined.h says: a trace from a stranger is data, but drivers build its kernels and run them.
// Thread safety: none; called before there are threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tracer/gtrace/replay/run.h"

namespace gt::tracer {

struct ApartOptions {
  bool sandbox = true;
  std::vector<std::string> writes;  // folders that `body` writes into
};

// The exit status that `body` gives; 128 + a signal that ended it, with a line that names the last call. Where the
// kernel has no sandbox, a line says so when all else went well.
int run_apart(const std::string& trace_path, const std::function<int(LastCall&)>& body,
              const ApartOptions& options = {});

// For RunOptions: says what failed, and ends the process of the replay.
std::function<void(const Status&)> give_up_with(const std::string& trace_path);

}  // namespace gt::tracer
