// Snapshots: the trace as far as it is, written while the program runs.
//
// A forked copy of the collector finishes and writes the trace; the original goes on draining, so the program does not
// wait. They come by themselves when OpenCL calls were made since the last one, at intervals that keep their cost
// below 1 % of a processor, and whenever the spool's header says that somebody wants one. One that fails (a full disk)
// does no harm: the former one stays.
// Thread safety: none.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "tracer/collect/session.h"
#include "tracer/gtrace/record/save.h"

namespace gt::tracer {

// Tells who waits that their wishes, the first `wishes` of this recording, were granted by the trace at `path`; "" when
// it could not be written.
void grant_snapshots(SpoolHeader& header, uint32_t wishes, const std::string& path);

class Snapshots {
 public:
  Snapshots(Session& session, TraceFile& file);
  ~Snapshots();  // one under way is given up

  void tick();      // begins one when it is time, and puts a finished one in its place
  void take_now();  // and waits for it

 private:
  using Clock = std::chrono::steady_clock;

  bool due() const;
  void begin(uint64_t most);
  void collect(int options);
  void put(bool written, std::chrono::nanoseconds cost);

  static constexpr std::chrono::seconds First{1}, Longest{60};
  static constexpr int CostShare = 100;  // an interval is at least this many times what the last one cost

  Session& session_;
  TraceFile& file_;
  pid_t writer_ = 0;       // the copy that writes; 0: none does
  uint32_t granting_ = 0;  // the wishes that it grants
  uint64_t calls_ = 0;     // in the last one
  Clock::time_point next_;
  std::chrono::nanoseconds interval_{First}, fork_cost_{0};
};

}  // namespace gt::tracer
