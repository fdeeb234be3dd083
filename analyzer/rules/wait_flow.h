// Which waits order nothing: found by following what is on its way in the program's queue (replay.h).
//
// A wait is *idle* when nothing was on its way. It is *early* when only commands were that work on the device alone
// (kernels, copies, fills of buffers, unmapping), and the program then goes on to enqueue without asking any event: the
// queue orders the commands by itself, and the host sees nothing of them. Only for programs with one queue, which runs
// commands in order, in one thread, without callbacks and without printf in kernels.
// Thread safety: none. Cost: that of a replay.
#pragma once

#include <vector>

#include "analyzer/calls/call_plan.h"

namespace gt::analyzer {

struct WaitFacts {
  uint64_t idle = 0, early = 0;
  double awaited_ns = 0;  // device time of the commands that early waits waited for
  bool timed = true;      // false: some of these have no device time
};

// By shape.
std::vector<WaitFacts> follow_waits(const model::Trace& trace, const CallPlans& plans);

}  // namespace gt::analyzer
