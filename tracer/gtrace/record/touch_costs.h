// What the first touch of memory costs on this machine, by a few pages of our own.
// Thread safety: any thread. Cost: 5 to 10 ms, and 10 MiB for that long.
#pragma once

#include "traces/model/folded/run_usage.h"

namespace gt::tracer {

// page_ns 0: there was no memory.
model::TouchCosts measure_touch_costs();

}  // namespace gt::tracer
