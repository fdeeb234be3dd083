// Where the time of the whole run goes, from before the program's start to its end, and how much faster it could be at
// best: what is left when nothing but moving data and the first touch of memory is made faster is Amdahl's bound.
//
// The parts are those of one thread, the one that spends most time in OpenCL calls, and add up to the run. Times of
// calls are the host's, so that commands that overlap count once:
//   a call that moves data took its command's time on the device, and waited for earlier commands for the rest of it;
//   waiting (such calls, clFinish, ...) is for kernels and for transfers under way, in the proportion in which the
//   devices worked for them, and never longer than they did; what is left are drivers' own doings;
//   first touch in transfers: their pages that were not there (facts fresh.*), at what a first touch costs; it is taken
//   off the transfers, also those that are waited for later, and off the waiting in calls where the driver does it
//   besides its command;
//   first touch elsewhere: all other page faults of the process, but for the pages of buffers of devices that work in
//   the host's memory (these are made in commands); at most what is left of the run.
// Thread safety: values. Cost: O(folded trace).
#pragma once

#include <cstdint>

#include "traces/model/fold/event.h"
#include "traces/model/platform/platform.h"

namespace gt::analyzer {

struct RunParts {
  uint64_t whole_ns = 0;  // 0: not known, and nothing else is
  bool whole_run = false; // from the program's start to its end; else as long as it was recorded
  uint64_t startup_ns = 0;        // platforms, devices, contexts, queues
  uint64_t build_ns = 0;          // programs and kernels
  uint64_t memory_ns = 0;         // buffers, images, shared virtual memory: made and released
  uint64_t transfer_ns = 0;       // without the first touch in them
  uint64_t touch_transfer_ns = 0; // first touch in transfers
  uint64_t kernel_ns = 0;         // waited for
  uint64_t wait_ns = 0;           // for neither kernels nor transfers
  uint64_t call_ns = 0;           // all other OpenCL calls
  uint64_t touch_own_ns = 0;      // first touch elsewhere
  uint64_t own_ns = 0;            // what is left: the program's own

  uint64_t beside_ns = 0;    // OpenCL calls of other threads: at the same time, so in no sum
  uint64_t page_ns = 0;      // what a first touch costs; 0: not known, and no first touch is
  uint64_t fresh_bytes = 0;  // of transfers, whose pages were made in them
  uint64_t faults = 0;       // of the whole run; 0: not known

  bool known() const { return whole_ns > 0; }
  // What goptimize can make faster: at most all of moving data and of first touch.
  uint64_t reachable_ns() const { return transfer_ns + touch_transfer_ns + touch_own_ns; }
  // The run divided by the rest of it. Infinite for a run that does nothing else. REQUIRES: known().
  double best_speedup() const;
};

// `platform` may be null: what a first touch costs is the trace's to say, or the platform's where it does not.
// REQUIRES: a checked trace.
RunParts find_run_parts(const model::Trace& trace, const model::Platform* platform);

}  // namespace gt::analyzer
