// A flag and two handlers.
#include "microbench/base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace gt::bench {
namespace {

constexpr int Signals[] = {SIGINT, SIGTERM};
// With a call that does not come back. Longer than child.cc has with programs.
constexpr unsigned Timeout_s = 10;

std::atomic<int> came = 0;
static_assert(std::atomic<int>::is_always_lock_free);
struct sigaction before[2];

void end_at_once(int) {
  ::signal(came, SIG_DFL);
  ::raise(came);
}

void remember(int signal) {
  came = signal;
  ::alarm(Timeout_s);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  struct sigaction late {};
  late.sa_handler = end_at_once;
  ::sigaction(SIGALRM, &late, nullptr);
  for (int i = 0; i < 2; ++i) {
    ::sigaction(Signals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) ::sigaction(Signals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  ::alarm(0);
  ::signal(SIGALRM, SIG_DFL);
  for (int i = 0; i < 2; ++i) ::sigaction(Signals[i], &before[i], nullptr);
}

bool interrupted() { return came != 0; }

int end_interrupted() {
  ::signal(came, SIG_DFL);
  ::raise(came);
  return 128 + came;
}

}  // namespace gt::bench
