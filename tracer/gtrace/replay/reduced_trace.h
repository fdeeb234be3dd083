// A trace of some of another one's calls, with the contents that they move, as files.
// Thread safety: none.
#pragma once

#include <string>

#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/replay/call_graph.h"

namespace gt::tracer {

struct ReducedFiles {
  uint64_t calls = 0, contents = 0, content_bytes = 0;
};

// `path`: what lies there is kept as path.1.db, as `gtrace run` does. Texts that no call needs (sources of programs)
// are not in it, nor memory calls, statistics, or other processes' calls. Invalid: it is the trace itself.
Result<ReducedFiles> write_reduced(const OpenedTrace& from, uint32_t process, const CallGraph& graph,
                                   const CallSet& calls, const std::string& path);

}  // namespace gt::tracer
