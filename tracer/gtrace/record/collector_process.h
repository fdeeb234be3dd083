// The collector: a process of its own that drains the spool, folds, and writes the trace.
//
// `gtrace run` forks it before the program starts, and then only waits and passes signals and status on. It has a
// session of its own, so the terminal's signals do not reach it, ignores the polite ones, and holds no descriptor of
// the user's but stderr. So whatever happens to `gtrace run`, the collector goes on until the last traced process has
// ended and writes the whole trace; whatever happens to the collector, the program goes on unrecorded.
//
//   gtrace run ── ProgramNews{pid} ... ProgramNews{pid, ended, status} ──► collector
//   gtrace run ◄─────────────────────────── Closing{status} ────────────── collector
//
// over a socket pair whose end of file means that the other side is gone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tracer/collect/spool_reader.h"
#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "traces/model/folded/run_usage.h"

namespace gt::tracer {

struct ProgramNews {
  int32_t pid = 0;
  bool ended = false;
  int32_t exit_status = 0;  // 128 + the signal that ended it, when one did
  int32_t signal = 0;
  model::RunUsage usage = {};  // once it has ended
};

struct Closing {
  int32_t status = 0;     // of gtrace, if it is not to be the program's
  bool waiting = false;   // not yet: --wait, and other processes of the program live. Another Closing will follow
  bool detached = false;  // the collector goes on without us: the same without --wait
};

struct CollectorJob {
  std::string output;    // where the trace goes
  std::string program;   // as the user named it
  std::string injected;  // the library in it that is ours
  bool wait = false;     // for every traced process before Closing
  bool timeline = false;
};

// The parent's end. Thread safety: none.
class CollectorProcess {
 public:
  // REQUIRES: one thread. The child takes the spool over; the parent's mapping stays usable. `title`: memory of the
  // command line that may be overwritten, so that ps tells the two processes apart.
  static Result<CollectorProcess> start(SpoolReader& spool, const CollectorJob& job, std::span<char> title);
  CollectorProcess(CollectorProcess&& other) noexcept;
  CollectorProcess& operator=(CollectorProcess&&) = delete;
  ~CollectorProcess();  // waits for the collector, unless it is detached

  void tell(const ProgramNews& news);
  // Has it something to say (or died) within that time?
  bool answers(std::chrono::milliseconds timeout) const;
  // REQUIRES: the end was told. Waits until the trace is written, or for the news that this will take as long as other
  // processes live. Nothing: the collector died.
  std::optional<Closing> closing();
  // REQUIRES: closing() gave nothing. "killed by signal 9".
  std::string cause_of_death();
  pid_t pid() const { return pid_; }

 private:
  CollectorProcess(pid_t pid, Fd channel) : pid_(pid), channel_(std::move(channel)) {}
  int reap();

  pid_t pid_ = 0;  // 0: reaped, or no longer ours
  Fd channel_;
};

// The other end: the life of the collector. Gives its exit status.
int collect(SpoolReader spool, Fd channel, const CollectorJob& job);

}  // namespace gt::tracer
