#include "transport/link/base/link_life.h"

#include "transport/link/base/waiting.h"

namespace gt::wire {
namespace {

constexpr uint64_t CloseWithin_ms = 2000;

}  // namespace

Status LinkLife::why_closed() const {
  const MutexLock lock(mutex_);
  return why_.ok() ? link_closed() : why_;
}

void LinkLife::start(LinkHandler& handler) {
  handler_ = &handler;
  started_ = true;
}

void LinkLife::close() {
  if (in_child()) return;
  if (!started_) return end(link_closed());
  {
    const MutexLock lock(mutex_);
    if (is_open()) {
      why_ = link_closed();
      give_up_ns_ = monotonic_ns() + CloseWithin_ms * Ms;
      state_ = State::Closing;  // last: who sees it reads the others
    }
  }
  parts_.say_bye();
  if (in_handler()) return;
  while (is_closing()) {
    tick();
    UniqueLock lock(mutex_);
    if (is_closing()) changed_.wait_for(lock, std::chrono::milliseconds(5));
  }
  UniqueLock lock(mutex_);
  const auto all_ended = [this]() GT_REQUIRES(mutex_) { return ended_channels_ == 2; };
  changed_.wait_for(lock, std::chrono::milliseconds(CloseWithin_ms), all_ended);
}

void LinkLife::tick() {
  if (!is_closing()) return;
  if (parts_.all_arrived() || monotonic_ns() > give_up_ns_) end(link_closed());
}

void LinkLife::end(const Status& why) {
  {
    const MutexLock lock(mutex_);
    if (is_ended()) return;
    if (is_open()) why_ = why;
    state_ = State::Ended;
    changed_.notify_all();
  }
  parts_.stop();
}

void LinkLife::channel_has_ended() {
  {
    const MutexLock lock(mutex_);
    if (ended_channels_ == 0) {
      ++ended_channels_;
      return;
    }
  }
  parts_.stop_telling();
  handler_->on_closed(why_closed());
  const MutexLock lock(mutex_);
  ++ended_channels_;
  changed_.notify_all();
}

}  // namespace gt::wire
