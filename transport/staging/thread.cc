#include "transport/staging/thread.h"

#include <signal.h>
#include <sys/prctl.h>

#include <initializer_list>

#include "traces/base/unwatched.h"
#include "transport/staging/futex.h"

namespace gt::staging {
namespace {

// Drivers have handlers for such signals, too: PoCL for divisions by zero, in its own code and in kernels.
sigset_t all_but_own_faults() noexcept {
  sigset_t set;
  ::sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) ::sigdelset(&set, fault);
  return set;
}

// A thread of a program with a sanitizer. Lies on the starting thread's stack until it was read.
struct Start {
  void* (*run)(void*);
  void* argument;
  std::atomic<uint32_t> was_read{0};
};
void* run_unwatched(void* given) {
  auto& start = *static_cast<Start*>(given);
  void* (*const run)(void*) = start.run;
  void* const argument = start.argument;
  start.was_read.store(1, std::memory_order_release);
  wake(start.was_read, 1);
  const Unwatched unwatched;
  return run(argument);
}

bool create(pthread_t* out, const pthread_attr_t& attributes, void* (*run)(void*), void* argument) noexcept {
  if (!is_watched()) return ::pthread_create(out, &attributes, run, argument) == 0;
  Start start{run, argument};
  if (::pthread_create(out, &attributes, run_unwatched, &start) != 0) return false;
  while (!start.was_read.load(std::memory_order_acquire)) wait_while(start.was_read, 0);
  return true;
}

// The calling thread's name for as long as it starts another one, which inherits it. To name a thread from outside is
// to write a file below /proc; what the kernel keeps of that, it clears away when the process ends: for tens of
// milliseconds, where processors are busy and several threads end at once.
class LentName {
 public:
  explicit LentName(const char* name) noexcept : known_(::prctl(PR_GET_NAME, own_) == 0) {
    if (known_) ::prctl(PR_SET_NAME, name);
  }
  ~LentName() {
    if (known_) ::prctl(PR_SET_NAME, own_);
  }
  LentName(const LentName&) = delete;
  LentName& operator=(const LentName&) = delete;

 private:
  char own_[16] = {};
  const bool known_;
};

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
  const bool started = [&] {
    const LentName lent(name);
    return create(out, attributes, run, argument);
  }();
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool start_detached(const char* name, void* (*run)(void*), void* argument, size_t stack_bytes) noexcept {
  pthread_t id;
  return start_thread(name, run, argument, &id, stack_bytes) && ::pthread_detach(id) == 0;
}

}  // namespace gt::staging
