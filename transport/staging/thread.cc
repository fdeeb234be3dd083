#include "transport/staging/thread.h"

#include <signal.h>
#include <sys/prctl.h>

#include <atomic>
#include <cstring>
#include <initializer_list>

#include "traces/base/unwatched.h"

namespace gt::staging {
namespace {

// Drivers have handlers for such signals, too: PoCL for divisions by zero, in its own code and in kernels.
sigset_t all_but_own_faults() noexcept {
  sigset_t set;
  ::sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) ::sigdelset(&set, fault);
  return set;
}

// What a thread is told at its beginning. The starting one may be gone by then, so it is no memory of its own.
struct Start {
  std::atomic<bool> taken{false};
  void* (*run)(void*) = nullptr;
  void* argument = nullptr;
  char name[16] = {};
};
constinit Start g_starts[16];

Start* take_start() noexcept {
  for (Start& start : g_starts) {
    if (!start.taken.exchange(true, std::memory_order_acquire)) return &start;
  }
  return nullptr;
}

// Names itself: to name a thread from outside is to write a file below /proc, and what the kernel keeps of that it
// clears away when the process ends, for tens of milliseconds where several threads end at once.
void* begin(void* given) {
  auto& start = *static_cast<Start*>(given);
  void* (*const run)(void*) = start.run;
  void* const argument = start.argument;
  ::prctl(PR_SET_NAME, start.name);
  start.taken.store(false, std::memory_order_release);
  if (!is_watched()) return run(argument);
  const Unwatched unwatched;
  return run(argument);
}

bool create(const char* name, pthread_t* out, const pthread_attr_t& attributes, void* (*run)(void*),
            void* argument) noexcept {
  Start* const start = take_start();
  if (!start) return ::pthread_create(out, &attributes, run, argument) == 0;  // so many at once: without a name
  start->run = run;
  start->argument = argument;
  std::strncpy(start->name, name, sizeof start->name - 1);
  if (::pthread_create(out, &attributes, begin, start) == 0) return true;
  start->taken.store(false, std::memory_order_release);
  return false;
}

}  // namespace

void (*thread_begins)() = nullptr;

bool start_thread(const char* name, void* (*run)(void*), void* argument, pthread_t* out,
                  size_t stack_bytes) noexcept {
  const sigset_t others = all_but_own_faults();
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, &others, &before);  // inherited
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack_bytes);
  const bool started = create(name, out, attributes, run, argument);
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool start_detached(const char* name, void* (*run)(void*), void* argument, size_t stack_bytes) noexcept {
  pthread_t id;
  return start_thread(name, run, argument, &id, stack_bytes) && ::pthread_detach(id) == 0;
}

}  // namespace gt::staging
