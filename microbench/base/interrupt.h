// Ctrl-C while something is measured: the loops end at their next look, nothing is written, and the program then ends
// as by the signal itself. A second one ends it at once, and so does a driver that does not come back for 10 s.
// Thread safety: the guard by one thread; interrupted() by any.
#pragma once

namespace gt::bench {

// SIGINT and SIGTERM are a wish for as long as it lives.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

bool interrupted();
// Ends the process by the signal that came, as if nobody had caught it; the exit status for a shell where that is not
// possible. REQUIRES: interrupted().
int end_interrupted();

}  // namespace gt::bench
