// Which thread of a replay may make its next call.
//
//   recorded times   a call begins when every call has returned that had returned when it began in the recording; calls
//                    that overlapped then may overlap now, so who waits for another thread's call gets it
//   no times         one call at a time, the first thread's whose objects are all there; others beside one that waits
//   as they come     a call waits only until its objects are there
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <vector>

#include "traces/base/mutex.h"

namespace gt::tracer {

enum class OrderBy : uint8_t { Times, Needs, Nothing };

class CallOrder {
 public:
  CallOrder(OrderBy by, size_t threads) : by_(by), alone_(threads == 1), threads_(threads) {}

  OrderBy by() const { return by_; }
  bool alone() const { return alone_; }  // nobody needs to enter
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  static constexpr uint64_t Never = ~uint64_t{0};
  struct Turn {
    uint64_t entered = 0, left = Never;  // in the recording; Never: it did not return
    bool waits = false;                  // it may return only after a call of another thread
    std::function<bool()> ready;         // are its objects there? Empty: with recorded times nobody asks
  };
  // Waits until `thread` may make its next call. False: the replay has ended.
  // `turn` must live until leave(). REQUIRES: not alone().
  bool enter(size_t thread, const Turn& turn);
  void leave(size_t thread);
  void finish(size_t thread);  // it makes no more calls
  void stop();                 // nobody does

 private:
  enum class State : uint8_t { Between, Waiting, Calling, Done };
  struct Thread {
    State state = State::Between;
    const Turn* turn = nullptr;  // of the call that it waits for, or makes
    bool ready() const { return !turn->ready || turn->ready(); }
  };

  bool may(size_t thread, bool waited_long) const GT_REQUIRES(mutex_);
  bool somebody_makes(size_t thread) const GT_REQUIRES(mutex_);
  bool may_by_times(size_t thread, bool waited_long) const GT_REQUIRES(mutex_);
  bool may_by_needs(size_t thread, bool waited_long) const GT_REQUIRES(mutex_);

  const OrderBy by_;
  const bool alone_;  // one thread: it waits for nobody, and takes no lock
  Mutex mutex_;
  std::condition_variable changed_;
  std::vector<Thread> threads_ GT_GUARDED_BY(mutex_);
  std::atomic<bool> stopped_{false};  // written under the mutex
};

}  // namespace gt::tracer
