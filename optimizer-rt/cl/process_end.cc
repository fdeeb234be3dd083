// Handlers run in reverse order, and libraries' destructors are one of them: registered by the system before main() and
// after the constructors of preloaded libraries. So what such a constructor registers comes last, unless it is bound to
// its library, as atexit() would do it: then it runs with the destructors.
#include "optimizer-rt/cl/process_end.h"

#include <atomic>
#include <cstdlib>

namespace gt::opt {
namespace {

constinit std::atomic<void (*)()> g_last{nullptr};

void run_last(int, void*) {
  if (void (*const last)() = g_last.exchange(nullptr)) last();
}

constinit bool g_registered = false;
__attribute__((constructor(101))) void register_early() { g_registered = ::on_exit(run_last, nullptr) == 0; }

}  // namespace

bool run_at_process_end(void (*last)()) noexcept {
  void (*nobody)() = nullptr;
  return g_registered && g_last.compare_exchange_strong(nobody, last);
}

}  // namespace gt::opt
