// Kernels that are launched on a buffer while it is mapped: the program relies on host and device sharing its memory.
#pragma once

#include <set>

#include "analyzer/calls/call_plan.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

// Shapes of launches that write a buffer which is mapped, or use one that is mapped for writing. A mapping counts
// where map and launch name one object by a constant; others are not looked at, so nothing is reported that may not be.
// `effects` empty: as recorded. Cost: O(folded trace).
std::set<model::ShapeId> find_mapped_launches(const model::Trace& trace, const Effects& effects);

}  // namespace gt::analyzer
