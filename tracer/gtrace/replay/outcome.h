// What came of a replay: how many calls were made, what could not be, what differed.
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "traces/base/mutex.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

// The first place in which what a call brought back differs from the recording.
struct ContentDifference {
  uint64_t call = 0;  // its number, as gtrace expand counts
  model::ThreadId thread = 0;
  model::ShapeId shape = 0;
  uint64_t offset = 0;     // in bytes
  uint64_t differing = 0;  // elements, of `elements`
  uint64_t elements = 0;
  std::string type, expected, got;  // of the first one
  std::string object;               // of a launch: what it wrote
};

struct ShapeTime {
  uint64_t calls = 0, host_ns = 0;
};

class Outcome {
 public:
  explicit Outcome(size_t shapes) : times_(shapes) {}

  // Calls that a thread made, by shape.
  void made(const std::vector<ShapeTime>& times) {
    const MutexLock lock(mutex_);
    for (size_t s = 0; s < times.size(); ++s) {
      times_[s].calls += times[s].calls;
      times_[s].host_ns += times[s].host_ns;
    }
  }
  // A call that was not made, and one that was changed to fit this device.
  void left_out(const std::string& why) { count(left_out_, why); }
  void bridged(const std::string& how) { count(bridged_, how); }
  // A call that ended otherwise than recorded, but no worse.
  void ended_otherwise(const std::string& how) { count(ended_otherwise_, how); }
  void went_on() { went_on_.fetch_add(1, std::memory_order_relaxed); }  // a transfer that blocked when it was recorded
  uint64_t gone_on() const { return went_on_.load(); }
  // A result of memory that nobody had written.
  void undefined() { undefined_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t undefined_results() const { return undefined_.load(); }
  void compared(uint64_t bytes) {
    const MutexLock lock(mutex_);
    ++compared_;
    compared_bytes_ += bytes;
  }
  void differs(ContentDifference d) {
    const MutexLock lock(mutex_);
    ++differing_;
    if (differences_.size() < MostDifferences) differences_.push_back(std::move(d));
  }

  using Counts = std::map<std::string, uint64_t>;
  // REQUIRES, for all below: no thread replays any more.
  const std::vector<ShapeTime>& times() const GT_NO_THREAD_SAFETY_ANALYSIS { return times_; }
  const Counts& left_out() const GT_NO_THREAD_SAFETY_ANALYSIS { return left_out_; }
  const Counts& bridged() const GT_NO_THREAD_SAFETY_ANALYSIS { return bridged_; }
  const Counts& ended_otherwise() const GT_NO_THREAD_SAFETY_ANALYSIS { return ended_otherwise_; }
  const std::vector<ContentDifference>& differences() const GT_NO_THREAD_SAFETY_ANALYSIS { return differences_; }
  uint64_t compared() const GT_NO_THREAD_SAFETY_ANALYSIS { return compared_; }
  uint64_t compared_bytes() const GT_NO_THREAD_SAFETY_ANALYSIS { return compared_bytes_; }
  uint64_t differing() const GT_NO_THREAD_SAFETY_ANALYSIS { return differing_; }
  uint64_t calls() const {
    uint64_t n = 0;
    for (const ShapeTime& t : times()) n += t.calls;
    return n;
  }

 private:
  static constexpr size_t MostDifferences = 20;

  void count(Counts& counts, const std::string& what) {
    const MutexLock lock(mutex_);
    ++counts[what];
  }

  std::atomic<uint64_t> went_on_{0}, undefined_{0};
  Mutex mutex_;
  std::vector<ShapeTime> times_ GT_GUARDED_BY(mutex_);
  Counts left_out_ GT_GUARDED_BY(mutex_), bridged_ GT_GUARDED_BY(mutex_), ended_otherwise_ GT_GUARDED_BY(mutex_);
  std::vector<ContentDifference> differences_ GT_GUARDED_BY(mutex_);
  uint64_t compared_ GT_GUARDED_BY(mutex_) = 0, compared_bytes_ GT_GUARDED_BY(mutex_) = 0;
  uint64_t differing_ GT_GUARDED_BY(mutex_) = 0;
};

}  // namespace gt::tracer
