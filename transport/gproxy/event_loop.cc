#include "transport/gproxy/event_loop.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "traces/base/clock.h"

namespace gt::proxy {

EventLoop::Watch& EventLoop::Watch::operator=(Watch&& other) noexcept {
  std::swap(loop_, other.loop_);
  std::swap(fd_, other.fd_);
  std::swap(id_, other.id_);
  return *this;
}

EventLoop::Watch::~Watch() {
  if (!loop_) return;
  loop_->watches_.erase(id_);
  ::epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_DEL, fd_, nullptr);
}

EventLoop::Timer& EventLoop::Timer::operator=(Timer&& other) noexcept {
  std::swap(loop_, other.loop_);
  std::swap(due_, other.due_);
  return *this;
}

EventLoop::Timer::~Timer() {
  if (loop_) loop_->timers_.erase(due_);
}

Result<std::unique_ptr<EventLoop>> EventLoop::make() {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.open()) return system_error("epoll", errno);
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll)));
}

EventLoop::Watch EventLoop::watch(int fd, Handler ready, uint32_t events) {
  const uint64_t id = next_id_++;
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return {};
  watches_[id] = std::make_shared<Handler>(std::move(ready));
  return {this, fd, id};
}

EventLoop::Timer EventLoop::after(std::chrono::milliseconds wait, Handler due) {
  const Timer::Due key{monotonic_ns() + static_cast<uint64_t>(wait.count()) * 1'000'000, next_id_++};
  timers_[key] = std::move(due);
  return {this, key};
}

int EventLoop::wait_ms() const {
  if (timers_.empty()) return -1;
  const uint64_t due = timers_.begin()->first.first, now = monotonic_ns();
  return due <= now ? 0 : static_cast<int>(std::min<uint64_t>((due - now) / 1'000'000 + 1, INT_MAX));
}

void EventLoop::run_due_timers() {
  const uint64_t now = monotonic_ns();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const Handler due = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    due();
  }
}

void EventLoop::run() {
  std::array<epoll_event, 64> events;
  while (!stopped_) {
    const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
    for (int i = 0; i < n; ++i) {
      const uint64_t id = events[static_cast<size_t>(i)].data.u64;  // a copy: the struct is packed
      const auto it = watches_.find(id);
      if (it == watches_.end()) continue;  // a handler before it dropped the watch
      const std::shared_ptr<Handler> ready = it->second;
      (*ready)();
    }
    run_due_timers();
  }
}

}  // namespace gt::proxy
