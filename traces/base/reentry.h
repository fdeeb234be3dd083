// Whose code is running on this thread: the program's, or the driver's and ours?
//
// Injected libraries record and reroute only what the program itself does. `inside` counts nested entries into a
// wrapped call; memory calls made while it is not zero belong to the driver or to us. `muted` marks threads that the
// driver created: all of their memory calls are the driver's.
// Invariant: inside returns to its old value when a wrapped call returns, also by longjmp-free early return (Reentry).
// Cost: one initial-exec TLS load and test. One 8-byte TLS slot for each injected library.
// Thread safety: thread-local. Async-signal-safe.
#pragma once

#include <cstdint>

namespace gt {

struct ThreadFlags {
  uint32_t inside = 0;
  uint32_t muted = 0;
};
extern __thread ThreadFlags t_flags __attribute__((tls_model("initial-exec")));

class Reentry {
 public:
  Reentry() : outermost_(t_flags.inside++ == 0) {}
  ~Reentry() { --t_flags.inside; }
  Reentry(const Reentry&) = delete;
  Reentry& operator=(const Reentry&) = delete;
  bool outermost() const { return outermost_; }

 private:
  bool outermost_;
};

inline bool program_runs() { return t_flags.inside == 0 && t_flags.muted == 0; }

}  // namespace gt
