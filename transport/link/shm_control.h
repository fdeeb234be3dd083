// The control lane inside a node: frames through a ring, cut where they are larger than a part of it.
//
// A frame goes straight into the ring when it fits; else it waits in a queue that whoever comes next empties. Senders
// wait while the queue is not empty; handlers, which must not wait, add to it.
// Thread safety: send() and all_taken() from any thread, work() by the lane's.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "transport/link/shm_region.h"
#include "transport/link/shm_owner.h"

namespace gt::wire {

class ShmControl {
 public:
  ShmControl(ShmOwner& owner, RingWriter out, RingReader in, Bell& mine, Bell& peers)
      : owner_(owner), out_(out), in_(in), mine_(mine), peers_(peers) {}

  Status send(std::span<const ByteView> parts);
  bool all_taken();
  // The peer has something to do that it has not done.
  bool awaits();

  // The lane's thread: takes what is there and sends what waits. True: there may be more.
  Result<bool> work();
  Bell& bell() { return mine_; }
  bool seems_idle() const { return in_.seems_empty(); }
  void wake_all();

 private:
  static constexpr size_t MostWaiting = size_t{256} << 20;  // bytes
  static constexpr size_t Fragment = ControlRing / 4;

  Status pump();
  bool fits(size_t bytes);

  ShmOwner& owner_;
  std::mutex mutex_;
  std::condition_variable room_;
  RingWriter out_;             // mutex_
  std::deque<Bytes> waiting_;  // mutex_
  size_t sent_of_first_ = 0, waiting_bytes_ = 0;
  RingReader in_;              // the lane's thread
  Bytes frame_;                // so far
  Bell &mine_, &peers_;
};

}  // namespace gt::wire
