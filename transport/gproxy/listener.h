// A listening socket in the loop: hands over every connection, and rests a moment when the system has no descriptor
// left (those who wait stay in the socket's queue).
// Thread safety: none; on the loop's thread.
#pragma once

#include <functional>

#include "traces/base/fd.h"
#include "transport/gproxy/event_loop.h"

namespace gt::proxy {

class Listener {
 public:
  using Taken = std::function<void(Fd)>;
  Listener(EventLoop& loop, Fd socket, Taken taken);  // `socket`: non-blocking

 private:
  void watch();
  void accept_all();

  EventLoop& loop_;
  Fd socket_;
  Taken taken_;
  EventLoop::Timer resting_;
  EventLoop::Watch watch_;  // goes before the descriptor
};

}  // namespace gt::proxy
