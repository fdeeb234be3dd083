// The program's own time before each of its calls, from the timeline.
#pragma once

#include <vector>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

// The mean for each shape, in ns; empty when no stream of OpenCL calls has a timeline.
// Cost: O(events), of which it looks at a bounded number; they stand for the others.
std::vector<double> find_call_gaps(const model::Trace& trace);

}  // namespace gt::analyzer
