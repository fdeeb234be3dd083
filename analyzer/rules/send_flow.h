// What becomes of data that is sent to devices: found by following buffers and images from call to call (replay.h).
//
// A send is *unread* when its bytes are all overwritten, or their buffer ends, before anything can have read them. It
// is *held* when the buffer has the very same bytes at that place already, from an earlier send; *kept* when it would
// have, had the buffer not been made anew; *returned* when they came from there, and *moved* when the host received the
// same bytes at the same address and sends them elsewhere. The last four need content numbers (gtrace run --capture
// hash). Counts are lower bounds: what cannot be followed (call_plan.h) or was not shown (replay.h) is in none of them.
// Thread safety: none. Cost: that of a replay of each OpenCL stream.
#pragma once

#include <vector>

#include "analyzer/calls/call_plan.h"

namespace gt::analyzer {

struct SendFacts {
  uint64_t unread = 0, held = 0, kept = 0, returned = 0, moved = 0;
};

// By shape.
std::vector<SendFacts> follow_sends(const model::Trace& trace, const CallPlans& plans);

}  // namespace gt::analyzer
