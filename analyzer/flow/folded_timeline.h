// Makes the blocks of a timeline (timeline_blocks.h) from a folded trace.
#pragma once

#include <cstddef>

#include "analyzer/code/call_site.h"
#include "analyzer/flow/timeline_blocks.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

// At most `most_blocks` blocks, and as many Rest blocks: those that took most time, with what is
// around them. REQUIRES: a checked trace. Cost: O(folded trace).
FoldedTimeline find_timeline(const model::Trace& trace, CallSites& sites,
                             size_t most_blocks = 100'000);

}  // namespace gt::analyzer
