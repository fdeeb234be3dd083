#include "tracer/gtrace/replay/order.h"

#include <chrono>

namespace gt::tracer {

bool CallOrder::enter(size_t thread, uint64_t entered, uint64_t left, const std::function<bool()>& ready) {
  if (by_ == OrderBy::Nothing || threads_.size() == 1) return true;
  constexpr auto Long = std::chrono::milliseconds(200);  // nobody else gets on: who calls may be waiting for this thread
  UniqueLock lock(mutex_);
  Thread& me = threads_[thread];
  me = {State::Waiting, entered, left, false};
  changed_.notify_all();
  for (bool waited_long = false; !stopped_;) {
    if (by_ == OrderBy::Needs) me.ready = ready();
    if (by_ == OrderBy::Times ? may_by_times(thread) : may_by_needs(thread, waited_long)) {
      me.state = State::Calling;
      changed_.notify_all();
      return true;
    }
    waited_long = changed_.wait_for(lock, Long) == std::cv_status::timeout;
  }
  return false;
}

void CallOrder::leave(size_t thread) {
  if (by_ == OrderBy::Nothing) return;
  const MutexLock lock(mutex_);
  threads_[thread].state = State::Between;
  if (threads_.size() > 1) changed_.notify_all();
}

void CallOrder::finish(size_t thread) {
  const MutexLock lock(mutex_);
  threads_[thread].state = State::Done;
  changed_.notify_all();
}

void CallOrder::stop() {
  const MutexLock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool CallOrder::may_by_times(size_t thread) const {
  const Thread& me = threads_[thread];
  for (size_t i = 0; i < threads_.size(); ++i) {
    const Thread& other = threads_[i];
    if (i == thread || other.state == State::Done) continue;
    if (other.state == State::Between) return false;  // about to say when its next call was
    if (other.state == State::Calling && other.left <= me.entered) return false;
    const bool earlier = other.entered < me.entered || (other.entered == me.entered && i < thread);
    if (other.state == State::Waiting && earlier) return false;
  }
  return true;
}

bool CallOrder::may_by_needs(size_t thread, bool waited_long) const {
  bool others_ready = false;
  for (size_t i = 0; i < threads_.size(); ++i) {
    const Thread& other = threads_[i];
    if (i == thread || other.state == State::Done) continue;
    if (other.state == State::Between) return false;
    if (other.state == State::Calling && !waited_long) return false;
    others_ready |= other.state == State::Waiting && other.ready && i < thread;
  }
  return (threads_[thread].ready && !others_ready) || waited_long;
}

}  // namespace gt::tracer
