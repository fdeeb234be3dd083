#include "optimizer-rt/cl/page_watch.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "optimizer-rt/pool/huge_pages.h"
#include "optimizer-rt/pool/kept_blocks.h"
#include "traces/base/clock.h"
#include "transport/staging/thread.h"

namespace gt::opt {
namespace {

constexpr long Millisecond = 1'000'000, LongestNap = 8 * Millisecond;
constexpr long Patience = 5'000 * Millisecond;  // of a block that nobody touches: it is given up

constinit std::atomic<bool> g_runs{false};

// Until no block is watched or kept.
void look_until_done() {
  long nap = Millisecond, in_vain = 0;
  for (;;) {
    const timespec time{0, nap};
    ::nanosleep(&time, nullptr);
    kept_blocks.give_back(monotonic_ns());
    switch (huge_pages.look()) {
      case HugePages::Seen::Nothing:
        if (!kept_blocks.any()) return;
        nap = LongestNap;
        break;
      case HugePages::Seen::Progress:
        nap = Millisecond;
        in_vain = 0;
        break;
      case HugePages::Seen::NoChange:
        in_vain += nap;
        nap = std::min(in_vain / 8 + Millisecond, LongestNap);
        if (in_vain > Patience) huge_pages.give_up();
        break;
    }
  }
}

// A block that is kept meanwhile must not be left alone.
void* watch(void*) {
  do {
    look_until_done();
    g_runs.store(false);
  } while (kept_blocks.any() && !g_runs.exchange(true));
  return nullptr;
}

void begins_again_in_child() { g_runs.store(false); }

__attribute__((constructor)) void set_hook() { watch_hook = watch_pages; }

}  // namespace

// A block that comes while the thread is about to end is looked after when the next one comes.
bool watch_pages() noexcept {
  static constinit std::atomic<bool> told{false};
  if (g_runs.exchange(true)) return true;
  if (!told.exchange(true)) ::pthread_atfork(nullptr, nullptr, begins_again_in_child);
  const bool started = staging::start_detached("gtrace-pages", watch, nullptr);
  if (!started) g_runs.store(false);
  return started;
}

}  // namespace gt::opt
