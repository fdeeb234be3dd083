// Waking a thread of a link's that polls.
#pragma once

#include <poll.h>

#include <atomic>
#include <memory>
#include <vector>

#include "traces/base/own_fd.h"
#include "traces/base/status.h"

namespace gt::wire {

// Why a link ends whose descriptors are gone.
inline Status descriptors_closed() {
  return {Kind::Disconnected, "the program closed the connection's descriptors"};
}

// Wakes a thread that polls fd(): a pipe with ourselves. Closing both its ends wakes it, too; what was rung then may be
// lost, and whoever renews it looks for what it was about.
// Thread safety: any thread; keep_up() by the one that polls, alone.
class Wake {
 public:
  Wake() { (void)renew(); }
  bool open() const { return now() != nullptr; }
  bool is_ours() const { return open() && now()->in.is_ours(); }
  int fd() const { return open() ? now()->in.get() : -1; }
  // After fd() was polled: another pipe takes the place of one of which the program has closed an end.
  enum class Kept : uint8_t { Same, Renewed, Lost };
  Kept keep_up(short revents) {
    if (is_ours() && !(revents & (POLLHUP | POLLERR | POLLNVAL))) return Kept::Same;
    return renew() ? Kept::Renewed : Kept::Lost;
  }
  void ring() const;  // readable until drained
  void drain() const;

 private:
  struct Pipe {
    OwnFd in, out;
  };
  bool renew();
  const Pipe* now() const { return pipe_.load(std::memory_order_acquire); }

  std::atomic<const Pipe*> pipe_{nullptr};
  std::vector<std::unique_ptr<Pipe>> all_;  // somebody may still ring an older one
};

}  // namespace gt::wire
