// Deadlines, and waiting for descriptors until one.
// Thread safety: values; functions from any thread.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>

#include "traces/base/clock.h"
#include "traces/base/own_fd.h"

namespace gt::wire {

constexpr uint64_t Ms = 1'000'000;  // ns

class Deadline {
 public:
  static Deadline in_ms(uint64_t ms) { return Deadline(monotonic_ns() + ms * Ms); }
  static Deadline never() { return Deadline(std::numeric_limits<uint64_t>::max()); }
  explicit Deadline(uint64_t at_ns) : at_ns_(at_ns) {}

  bool over() const { return monotonic_ns() >= at_ns_; }
  uint64_t at_ns() const { return at_ns_; }
  int left_ms() const {  // rounded up: 0 is over
    const uint64_t now = monotonic_ns();
    return now >= at_ns_ ? 0 : static_cast<int>(std::min<uint64_t>((at_ns_ - now + Ms - 1) / Ms, 1'000'000));
  }

 private:
  uint64_t at_ns_;
};

// A program may close our descriptors while we wait, which wakes nobody; and as long as somebody waits for a socket,
// its other end does not hear that it is gone. So the kernel is asked again so often what the numbers stand for.
constexpr int LookAgain_ms = 100;

// Waits until `fd` is ready for `events` (or broken, or closed), or `wake` (-1: none) is readable. False: it was not
// `fd`. A signal does not end the wait.
//
// `is_gone`: is what the number stands for another one's by now? Then nothing can be waited for: true, at once.
template <class IsGone>
bool wait_for(int fd, short events, Deadline deadline, int wake, const IsGone& is_gone) {
  pollfd fds[] = {{fd, events, 0}, {wake, POLLIN, 0}};
  while (!deadline.over()) {
    if (is_gone()) return true;
    const int n = ::poll(fds, 2, std::min(deadline.left_ms(), LookAgain_ms));
    if (n < 0 && errno != EINTR) return false;
    if (n > 0 && fds[1].revents) return false;
    if (n > 0 && fds[0].revents) return true;
  }
  return false;
}
inline bool wait_for(int fd, short events, Deadline deadline, int wake = -1) {
  return wait_for(fd, events, deadline, wake, [] { return false; });
}
inline bool wait_for(const OwnFd& fd, short events, Deadline deadline, int wake = -1) {
  return wait_for(fd.get(), events, deadline, wake, [&] { return !fd.is_ours(); });
}

}  // namespace gt::wire
