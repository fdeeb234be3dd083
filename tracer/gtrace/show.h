// The folded trace as the paper prints it: a table of calls with what each uses and defines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tracer/gtrace/table.h"
#include "traces/model/ssa.h"

namespace gt::tracer {

struct ShowOptions {
  bool memory = true;       // memory calls, too...
  bool all_memory = false;  // ...also those whose memory no OpenCL call names
  std::optional<model::ThreadId> thread;
  TextStyle style;
};

struct ShowRow {
  std::string number, call, def, use, site, count, host, device;
  bool structure = false;  // a loop's braces or φ, not a call
};

// The rows of one stream.
std::vector<ShowRow> show_rows(const model::Trace& trace, const model::Ssa& ssa, size_t stream,
                               const ShowOptions& options);

void print_show(const model::Trace& trace, const ShowOptions& options, Output& out);

}  // namespace gt::tracer
