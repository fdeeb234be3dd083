// Every call of a trace, a line each, in each thread's own order.
// Thread safety: none. Memory calls are unfolded by a second thread, which only reads the trace; `out` is the caller's
// thread's alone.
#pragma once

#include "tracer/gtrace/base/call_text.h"
#include "tracer/gtrace/base/output.h"
#include "tracer/gtrace/base/selection.h"
#include "traces/base/status.h"

namespace gt::tracer {

struct ExpandOptions {
  CallFormat format = CallFormat::Text;
  Selection selection;
};

// Memory calls stand before the OpenCL call that followed them in their thread; those after the
// last one at the end. Numbers count the calls of a stream from 1, as `gtrace show` does: #17 in
// OpenCL streams, m17 in memory streams. Loops without a wanted call are not unfolded. Invalid when
// the trace has no such object. Corrupt when columns turn out to be damaged. Ends early, and well,
// when nobody reads the output any more.
Status print_calls(const model::Trace& trace, const ExpandOptions& options, Output& out);

}  // namespace gt::tracer
