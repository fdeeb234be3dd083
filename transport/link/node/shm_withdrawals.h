// The peer's segments that it withdraws: the handler is told, the mapping is replaced, and the peer gets its answer.
//
// By a thread of their own, which the first one starts: a driver that lets go of memory may wait for its device, and
// the link goes on showing that it lives.
// Thread safety: add() by the thread that takes the peer's words; the rest from any.
#pragma once

#include <condition_variable>
#include <deque>

#include "transport/link/base/link_life.h"
#include "transport/link/base/link_thread.h"
#include "transport/link/node/remote_mapping.h"
#include "transport/link/node/shm_word.h"

namespace gt::wire {

class ShmWithdrawals {
 public:
  ShmWithdrawals(LinkLife& life, RemoteMapping& peer, std::function<Status(const Word&)> answer)
      : life_(life), peer_(peer), answer_(std::move(answer)) {}

  Status add(SegmentId segment);
  // Whom to tell from now on; before that, nobody.
  void start(LinkHandler& handler);
  // The handler is told nothing any more; waits until it has let go of what it was told.
  void stop();
  // The link has ended.
  void wake();
  void join() { thread_.join(); }  // REQUIRES: it has
  bool is_this_thread() const { return thread_.is_this(); }

 private:
  void run();
  void withdraw(SegmentId segment);

  LinkLife& life_;
  RemoteMapping& peer_;
  const std::function<Status(const Word&)> answer_;
  LinkThread thread_;
  bool runs_ = false;  // add()'s: the thread was started
  Mutex telling_;      // held while on_withdrawn() is called
  LinkHandler* handler_ GT_GUARDED_BY(telling_) = nullptr;
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<SegmentId> waiting_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::wire
