// The folded trace as the paper prints it: a table of calls with what each uses and defines.
#pragma once

#include <string>
#include <vector>

#include "tracer/gtrace/base/selection.h"
#include "tracer/gtrace/base/table.h"
#include "traces/model/ssa/ssa.h"

namespace gt::tracer {

struct ShowOptions {
  bool all_memory = false;  // also memory calls whose memory no OpenCL call names
  // Calls of a loop are meant by each number that the outermost loop around them spans.
  Selection selection;
  std::string site;          // a place or a pattern of places: "app+0x1234", "libfoo*"; "" is any
  uint64_t time_min_ns = 0;  // host time of a call, over all its executions
  bool tree = false;         // calls under their loops with their share of the time, without def and use
  TextStyle style;
};

struct ShowRow {
  std::string number, call, def, use, site, count, host, device;
  bool structure = false;  // a loop's braces or φ, not a call
  size_t depth = 0;
  uint64_t calls = 0;
  double host_ns = 0, device_ns = 0;
};

// The rows of one stream. REQUIRES: the trace has the object that the selection names.
std::vector<ShowRow> show_rows(const model::Trace& trace, const model::Ssa& ssa, size_t stream,
                               const ShowOptions& options);

// Rows of a tree (options.tree): "├ clFinish()", with their share of the host time of all rows.
void print_tree(const std::string& title, const std::vector<ShowRow>& rows, const TextStyle& style, Output& out);

// Invalid: the trace has no such object.
Status print_show(const model::Trace& trace, const ShowOptions& options, Output& out);

}  // namespace gt::tracer
