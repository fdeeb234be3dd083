// walk_stream(), with the reading of the trace in a thread of its own: the calls of a replay follow each other sooner.
//
// Events come in batches of some hundred, a few batches ahead; their values are copied.
// Thread safety: `walk.visit` runs in the caller's thread, `walk.wanted` in the other one.
#pragma once

#include "tracer/gtrace/base/walk.h"

namespace gt::tracer {

// As walk_stream(); `left_out` may not be set: REQUIRES a stream without summaries.
Status walk_ahead(const model::Trace& trace, const model::Stream& stream, const Walk& walk);

}  // namespace gt::tracer
