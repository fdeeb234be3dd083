#include "transport/staging/thread.h"

#include <signal.h>

#include <cstddef>

namespace gt::staging {

void (*thread_begins)() = nullptr;

bool start_thread(const char* name, void* (*run)(void*), void* argument, pthread_t* out) noexcept {
  constexpr size_t StackBytes = size_t{256} << 10;
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, StackBytes);
  const bool started = ::pthread_create(out, &attributes, run, argument) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) ::pthread_setname_np(*out, name);
  return started;
}

}  // namespace gt::staging
