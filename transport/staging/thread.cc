#include "transport/staging/thread.h"

#include <signal.h>

#include <initializer_list>

namespace gt::staging {
namespace {

// Drivers have handlers for such signals, too: PoCL for divisions by zero, in its own code and in kernels.
sigset_t all_but_own_faults() noexcept {
  sigset_t set;
  ::sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) ::sigdelset(&set, fault);
  return set;
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
  const bool started = ::pthread_create(out, &attributes, run, argument) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) ::pthread_setname_np(*out, name);
  return started;
}

bool start_detached(const char* name, void* (*run)(void*), void* argument, size_t stack_bytes) noexcept {
  pthread_t id;
  return start_thread(name, run, argument, &id, stack_bytes) && ::pthread_detach(id) == 0;
}

}  // namespace gt::staging
