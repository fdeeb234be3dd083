// The sender's half of an inbox: which of the receiver's slots are free.
//
// The executor frees slots in the order of its commands, so transfers take them in the order in which they were handed
// in: a later one must not take what an earlier one needs.
// Thread safety: all functions, but address() and slot_bytes() only once open() has been called: take() and
// wait_until_open() tell. credit() and close() only take a short lock; take() waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <utility>
#include <vector>

#include "traces/base/mutex.h"
#include "transport/link/base/link.h"

namespace gt::wire {

class Slots {
 public:
  // Before the first transfer: what the receiver said of its inbox.
  void open(SegmentId segment, uint32_t slots, uint64_t slot_bytes) {
    const MutexLock lock(mutex_);
    segment_ = segment;
    slot_bytes_ = slot_bytes;
    opened_ = true;
    for (uint32_t i = slots; i > 0; --i) free_.push_back(i - 1);
    changed_.notify_all();
  }
  void credit(const std::vector<uint32_t>& slots) {
    const MutexLock lock(mutex_);
    free_.insert(free_.end(), slots.begin(), slots.end());
    changed_.notify_all();
  }
  void close() {
    const MutexLock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  // False: closed, or the receiver takes no chunks.
  bool take(uint32_t& slot) {
    UniqueLock lock(mutex_);
    changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return closed_ || !free_.empty(); });
    if (closed_ || slot_bytes_ == 0) return false;
    slot = free_.back();
    free_.pop_back();
    return true;
  }
  // The same, but also returns when wake() has been called since it last did.
  enum class Outcome : uint8_t { Taken, Woken, Closed };
  Outcome take_unless_woken(uint32_t& slot) {
    UniqueLock lock(mutex_);
    changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return closed_ || woken_ || !free_.empty(); });
    if (std::exchange(woken_, false)) return Outcome::Woken;
    if (closed_ || slot_bytes_ == 0) return Outcome::Closed;
    slot = free_.back();
    free_.pop_back();
    return Outcome::Taken;
  }
  void wake() {
    const MutexLock lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  // Until open() has been called. False: not within the time, or closed.
  bool wait_until_open(std::chrono::milliseconds time) {
    UniqueLock lock(mutex_);
    return changed_.wait_for(lock, time, [this]() GT_REQUIRES(mutex_) { return closed_ || opened_; }) && !closed_;
  }
  Address address(uint32_t slot) const { return {segment_, slot * slot_bytes_}; }
  uint64_t slot_bytes() const { return slot_bytes_; }

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  SegmentId segment_ = 0;     // constant once open
  uint64_t slot_bytes_ = 0;
  std::vector<uint32_t> free_ GT_GUARDED_BY(mutex_);
  bool opened_ GT_GUARDED_BY(mutex_) = false, closed_ GT_GUARDED_BY(mutex_) = false;
  bool woken_ GT_GUARDED_BY(mutex_) = false;
};

}  // namespace gt::wire
