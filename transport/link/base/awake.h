// When a thread that watches over a peer was last kept from looking: its process was stopped (SIGSTOP, a debugger, a
// virtual machine that slept). A peer cannot be blamed for what was not looked at, and may have been stopped as well:
// its silence counts from then on anew.
//
// Thread safety: none; one for each thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport/link/base/waiting.h"

namespace gt::wire {

class Awake {
 public:
  // Before the thread sleeps: it looks again by then.
  void sleeps_until(uint64_t due_ns) { due_ns_ = due_ns; }
  void sleeps(uint64_t now_ns, int wait_ms) {
    sleeps_until(now_ns + static_cast<uint64_t>(std::max(wait_ms, 0)) * Ms);
  }
  // It looks. 0: it was never kept from it.
  uint64_t since(uint64_t now_ns) {
    if (due_ns_ != 0 && now_ns > due_ns_ + Late_ns) since_ns_ = now_ns;
    due_ns_ = 0;
    return since_ns_;
  }

 private:
  static constexpr uint64_t Late_ns = 1'000'000'000;  // more than a busy machine makes of it
  uint64_t due_ns_ = 0, since_ns_ = 0;
};

}  // namespace gt::wire
