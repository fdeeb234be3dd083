// Holds a lock, unless the thread is in there already: a signal handler that comes in between must not wait for it.
#pragma once

#include <atomic>

#include "traces/base/mutex.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

class Entered {
 public:
  // `inside`: the thread's own, for this lock.
  Entered(Mutex& mutex, bool& inside) noexcept GT_NO_THREAD_SAFETY_ANALYSIS
      : mutex_(mutex), inside_(inside), holds_(!inside) {
    if (!holds_) return;
    inside_ = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    mutex_.lock();
  }
  ~Entered() GT_NO_THREAD_SAFETY_ANALYSIS {
    if (!holds_) return;
    mutex_.unlock();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    inside_ = false;
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  bool holds() const { return holds_; }

 private:
  Mutex& mutex_;
  bool& inside_;
  const bool holds_;
};

}  // namespace gt::opt

#pragma GCC visibility pop
