// Keeps a timeline to a number of blocks: those that take least time are summed up.
#pragma once

#include <cstddef>

#include "analyzer/flow/timeline_blocks.h"

namespace gt::analyzer {

// What is left has at most `most` blocks; and between two of them at most one Rest for each depth. Cost: O(blocks).
void thin_out(FoldedTimeline& timeline, size_t most);

}  // namespace gt::analyzer
