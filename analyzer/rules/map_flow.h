// What map calls find in the buffers that they map: by following buffers from call to call (replay.h).
//
// A map is *undefined* when nothing has written to the buffer since it was made, so that there is nothing to copy to
// the host. It is *on the device* when the buffer was made without host memory (CL_MEM_ALLOC_HOST_PTR,
// CL_MEM_USE_HOST_PTR). An unmap is *unchanged* when it gives back the very bytes that the map call gave (gtrace run
// --capture hash). Counts are lower bounds. Thread safety: none. Cost: that of a replay.
#pragma once

#include <vector>

#include "analyzer/calls/call_plan.h"

namespace gt::analyzer {

struct MapFacts {
  uint64_t undefined = 0, on_device = 0;  // of map calls
  uint64_t unchanged = 0;                 // of unmaps
};

// By shape.
std::vector<MapFacts> follow_maps(const model::Trace& trace, const CallPlans& plans);

}  // namespace gt::analyzer
