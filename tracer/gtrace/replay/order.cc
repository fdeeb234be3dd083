#include "tracer/gtrace/replay/order.h"

#include <chrono>

namespace gt::tracer {

bool CallOrder::enter(size_t thread, const Turn& turn) {
  constexpr auto Long = std::chrono::milliseconds(200);  // without news: who calls may be waiting for this thread
  UniqueLock lock(mutex_);
  Thread& me = threads_[thread];
  me = {State::Waiting, &turn};
  changed_.notify_all();
  for (bool waited_long = false; !stopped_;) {
    if (may(thread, waited_long)) {
      me.state = State::Calling;
      changed_.notify_all();
      return true;
    }
    waited_long = changed_.wait_for(lock, Long) == std::cv_status::timeout;
  }
  return false;
}

bool CallOrder::may(size_t thread, bool waited_long) const {
  switch (by_) {
    case OrderBy::Times:
      return may_by_times(thread, waited_long);
    case OrderBy::Needs:
      return may_by_needs(thread, waited_long);
    case OrderBy::Nothing:
      break;
  }
  return threads_[thread].ready() || (waited_long && !somebody_makes(thread));
}

// Is another thread in a call that may be making what this one needs, and waits for nobody?
bool CallOrder::somebody_makes(size_t thread) const {
  for (size_t i = 0; i < threads_.size(); ++i) {
    const Thread& other = threads_[i];
    if (i != thread && other.state == State::Calling && !other.turn->waits) return true;
  }
  return false;
}

void CallOrder::leave(size_t thread) {
  const MutexLock lock(mutex_);
  threads_[thread].state = State::Between;
  changed_.notify_all();
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

bool CallOrder::may_by_times(size_t thread, bool waited_long) const {
  const Turn& mine = *threads_[thread].turn;
  if (!threads_[thread].ready() && !waited_long) return false;
  for (size_t i = 0; i < threads_.size(); ++i) {
    const Thread& other = threads_[i];
    if (i == thread || other.state == State::Done) continue;
    if (other.state == State::Between) return false;  // about to say when its next call was
    if (other.state == State::Calling && !threads_[thread].ready()) return false;  // it may be making what is not there
    if (other.state == State::Calling && other.turn->left <= mine.entered) return false;
    if (other.state != State::Waiting) continue;
    const uint64_t entered = other.turn->entered;
    if (entered < mine.entered || (entered == mine.entered && i < thread)) return false;
  }
  return true;
}

bool CallOrder::may_by_needs(size_t thread, bool waited_long) const {
  bool others_ready = false;
  for (size_t i = 0; i < threads_.size(); ++i) {
    const Thread& other = threads_[i];
    if (i == thread || other.state == State::Done) continue;
    if (other.state == State::Between) return false;
    if (other.state == State::Calling && !(other.turn->waits && waited_long)) return false;
    others_ready |= i < thread && other.state == State::Waiting && other.ready();
  }
  return waited_long || (!others_ready && threads_[thread].ready());
}

}  // namespace gt::tracer
