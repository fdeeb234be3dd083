// A whole replay: every thread of one recorded process, in order.
// Thread safety: one run at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tracer/gtrace/replay/last_call.h"
#include "tracer/gtrace/replay/order.h"
#include "tracer/gtrace/replay/replayer.h"

namespace gt::tracer {

struct RunOptions {
  uint32_t process = 0;  // of the trace
  bool free_threads = false;
  // Ends the process: a call failed, and other threads do not come back from theirs. May be empty.
  std::function<void(const Status&)> give_up;
  std::optional<model::ThreadId> thread;    // whose calls `first` and `last` count; nothing: the first with calls
  std::function<bool(model::ThreadId, uint64_t number)> makes;  // is this call made? Empty: all are
  uint64_t first = 1, last = ~uint64_t{0};  // what is before is made, but neither timed nor compared
};

struct RunTimes {
  uint64_t wall_ns = 0;      // of the calls that were wanted, to the end of their commands
  uint64_t recorded_ns = 0;  // of the process that was recorded, from its first call to its end
};

// The process with most OpenCL calls. Invalid: the trace has none.
Result<uint32_t> process_to_replay(const model::Trace& trace);

// Ends with the first call that cannot be made. `last_call` may be null.
Result<RunTimes> run_replay(ReplayWorld& world, const RunOptions& options, LastCall* last_call);

}  // namespace gt::tracer
