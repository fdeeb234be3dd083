// The trace that a command works on: the FILE given, or the newest one here.
#pragma once

#include <string>

#include "traces/store/trace_db.h"

namespace gt::tracer {

struct OpenedTrace {
  std::string path;
  uint64_t file_bytes = 0;
  model::Trace trace;
};

// `file`: a path, or "" for the newest trace*.db in the current directory.
Result<OpenedTrace> open_trace(const std::string& file);

}  // namespace gt::tracer
