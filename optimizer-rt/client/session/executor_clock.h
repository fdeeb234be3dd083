// The executor's clock in terms of ours. Both are monotonic and drift apart: some 10 us a second between two machines,
// by hours when one of them sleeps.
//
// A sample says what the executor's clock showed at some time between a question and its answer: half-way, give or take
// half of the exchange. The best sample's error grows with its age; another one counts when it is finer than that, or
// when both cannot be true.
//
// Invariant: of two times of the executor the later one is never told as the earlier one (but for a nanosecond of
// rounding), whatever was learnt in between. So the way from one clock to the other is a chain of straight pieces, and
// a sample bends it only behind the latest time that was asked for.
// Thread safety: all functions.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "traces/base/mutex.h"

namespace gt::virt {

class ExecutorClock {
 public:
  // `sent_ns`, `answered_ns`: by our clock, around `clock_ns` of the executor's.
  void sample(int64_t sent_ns, int64_t clock_ns, int64_t answered_ns);
  int64_t to_client(int64_t executor_ns);

 private:
  struct Knot {
    int64_t executor, client;
  };
  int64_t map(int64_t executor_ns) const GT_REQUIRES(mutex_);

  static constexpr int64_t Drift = 10'000;  // one in so many is more than quartz does
  static constexpr size_t MostKnots = 64;

  Mutex mutex_;
  // Both rise; before the first and behind the last both clocks run alike.
  std::deque<Knot> knots_ GT_GUARDED_BY(mutex_);
  std::optional<int64_t> latest_ GT_GUARDED_BY(mutex_);  // of the executor's times, that was asked for
  // Of the sample that the last knot is of; when, by our clock.
  int64_t error_ GT_GUARDED_BY(mutex_) = 0, sampled_ GT_GUARDED_BY(mutex_) = 0;
};

}  // namespace gt::virt
