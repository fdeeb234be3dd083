// The control channel inside a node: frames through a ring, cut where they are larger than a part of it.
//
// A frame goes straight into the ring when it fits; else it waits in a queue that whoever comes next empties. Senders
// wait while the queue is not empty; handlers, which must not wait, add to it.
// Thread safety: send(), help() and all_taken() from any thread, work() by who has the turn.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "traces/base/mutex.h"
#include "transport/link/base/link_life.h"
#include "transport/link/node/shm_region.h"
#include "transport/link/node/shm_turn.h"

namespace gt::wire {

class ShmControl {
 public:
  ShmControl(LinkLife& life, RingWriter out, RingReader in, Bell& mine, Bell& peers)
      : life_(life), out_(out), in_(in), turn_(mine), peers_(peers) {}

  Status send(std::span<const ByteView> parts);
  bool all_taken();
  // The peer has something to do that it has not done.
  bool awaits();

  // Of the Link, without the push.
  void prepare_help();
  void help(const std::function<bool()>& done);

  // Takes what is there and sends what waits. True: there may be more.
  Result<bool> work();
  ShmTurn& turn() { return turn_; }
  bool seems_idle() const { return in_.seems_empty(); }
  bool idle(Idle how) { return life_.handler().on_idle(how); }
  void wake_all();

 private:
  static constexpr size_t MostWaiting = size_t{256} << 20;  // bytes
  static constexpr size_t Fragment = ControlRing / 4;

  Status wait_for_room(UniqueLock& lock) GT_REQUIRES(mutex_);
  Status pump() GT_REQUIRES(mutex_);
  void receive_until(const std::function<bool()>& done, ShmTurn::Lock& turn, bool spins);
  void give_turn_back(ShmTurn::Lock turn);

  LinkLife& life_;
  Mutex mutex_;  // taken with the turn; with it the turn is only tried
  std::condition_variable room_;
  RingWriter out_ GT_GUARDED_BY(mutex_);
  std::deque<Bytes> waiting_ GT_GUARDED_BY(mutex_);
  size_t sent_of_first_ GT_GUARDED_BY(mutex_) = 0, waiting_bytes_ GT_GUARDED_BY(mutex_) = 0;
  RingReader in_;  // the turn
  Bytes frame_;    // the turn; so far
  ShmTurn turn_;
  Bell& peers_;
};

}  // namespace gt::wire
