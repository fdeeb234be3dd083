// Replay: the folded trace run through a machine of costs, in time that depends on the folded trace alone.
//
// A loop's body is executed, call by call, until it repeats itself: until each clock of the machine is later by the
// same amount in two periods running, and the calls did the same in both (a period is an iteration, or several where
// the body takes turns). All further periods then add the same again: max-plus systems settle so. But not for ever: a
// slow clock that is behind may catch up with the one that decides now. So one more period is executed in which each
// clock carries its slope; it must come out as predicted, and it tells up to which period every maximum keeps its
// winner (replay_clock.h). That many periods are skipped in one step, and execution goes on from there.
//
//   write(1 GB, non-blocking); loop ×10^6 { launch }     iterations 1-3: the launches wait for the link; the clock of
//                                                        the host gains on it 2 us each. Horizon 40,000: skipped.
//                                                        From there on the host decides: 3 iterations, skip the rest.
//
// A loop whose values are irregular (columns: trip counts that vary, queues chosen at random) is executed as a whole:
// its folded form is as long. There is a budget of calls; beyond it, the rest of a loop takes the mean of what was
// executed, and the result says that it is approximate.
//
// Each thread is replayed on a machine of its own. It starts when the threads before it have made what it uses; what
// threads share (devices, the link) bounds the whole from below.
// Cost: O(folded trace) times the few iterations until a loop has settled. Thread safety: immutable inputs.
#pragma once

#include <vector>

#include "analyzer/remote/replay_machine.h"
#include "analyzer/remote/timed_call.h"
#include "traces/model/fold/event.h"
#include "traces/model/platform/platform.h"

namespace gt::analyzer {

struct ReplayResult {
  double ns = 0;
  Terms parts{};    // of the thread that ends last
  ReplayWork work;  // of all threads
  bool approximate = false;
  uint64_t executed = 0;  // calls that were executed one by one
};

// REQUIRES: a checked trace. `link` null: the local machine.
ReplayResult replay_on_link(const model::Trace& trace, const std::vector<TimedCall>& plans,
                            const model::LinkCosts* link, double wake_ns);

}  // namespace gt::analyzer
