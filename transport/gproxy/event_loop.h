// What the supervisor waits for: descriptors and moments. One thread, no polling: it sleeps until one of them is due.
//
// Watches and timers live as long as their handles; a handler may drop any of them, its own too.
// Thread safety: none; everything on the thread of run(). Cost of an idle loop: nothing.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "traces/base/fd.h"
#include "traces/base/status.h"

namespace gt::proxy {

class EventLoop {
 public:
  using Handler = std::function<void()>;

  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept { *this = std::move(other); }
    Watch& operator=(Watch&& other) noexcept;
    ~Watch();

   private:
    friend EventLoop;
    Watch(EventLoop* loop, int fd, uint64_t id) : loop_(loop), fd_(fd), id_(id) {}
    EventLoop* loop_ = nullptr;
    int fd_ = -1;
    uint64_t id_ = 0;
  };

  class Timer {
   public:
    Timer() = default;
    Timer(Timer&& other) noexcept { *this = std::move(other); }
    Timer& operator=(Timer&& other) noexcept;
    ~Timer();
    bool set() const { return loop_ && loop_->timers_.count(due_); }

   private:
    friend EventLoop;
    using Due = std::pair<uint64_t, uint64_t>;  // when (ns), and a number that makes it unique
    Timer(EventLoop* loop, Due due) : loop_(loop), due_(due) {}
    EventLoop* loop_ = nullptr;
    Due due_{};
  };

  static Result<std::unique_ptr<EventLoop>> make();

  // `ready` is called whenever `fd` is (EPOLLIN, EPOLLOUT; errors and hang-ups count as ready). The watch must go
  // before the descriptor does. One that the system does not take is never ready: callers have their time limits.
  Watch watch(int fd, Handler ready, uint32_t events = EPOLLIN);
  Timer after(std::chrono::milliseconds wait, Handler due);  // once

  void run();  // until stop() is called
  void stop() { stopped_ = true; }

 private:
  explicit EventLoop(Fd epoll) : epoll_(std::move(epoll)) {}
  int wait_ms() const;
  void run_due_timers();

  Fd epoll_;
  bool stopped_ = false;
  uint64_t next_id_ = 1;
  std::unordered_map<uint64_t, std::shared_ptr<Handler>> watches_;
  std::map<Timer::Due, Handler> timers_;
};

}  // namespace gt::proxy
