#include "transport/executor/threads.h"

#include <signal.h>
#include <time.h>

#include "traces/base/lock.h"

namespace gt::exec {
namespace {

timespec in_ms(uint32_t ms) {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += ms / 1000;
  t.tv_nsec += ms % 1000 * 1'000'000L;
  if (t.tv_nsec >= 1'000'000'000L) t.tv_nsec -= 1'000'000'000L, ++t.tv_sec;
  return t;
}

}  // namespace

struct Threads::Start {
  const char* name;
  std::shared_ptr<Shared> shared;
  std::function<void()> run;
};

void* Threads::enter(void* start) {
  const std::unique_ptr<Start> own(static_cast<Start*>(start));
  ::pthread_setname_np(::pthread_self(), own->name);
  own->run();
  own->run = nullptr;  // lets go of what it kept before it counts as ended
  const Lock lock(own->shared->mutex);
  --own->shared->running;
  ::pthread_cond_broadcast(&own->shared->changed);
  return nullptr;
}

bool Threads::start(const char* name, size_t stack_bytes, std::function<void()> run) {
  auto start = std::make_unique<Start>(Start{name, x_shared, std::move(run)});
  {
    const Lock lock(x_shared->mutex);
    ++x_shared->running;
  }
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack_bytes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t id{};
  const bool started = ::pthread_create(&id, &attributes, enter, start.get()) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) {
    start.release();  // enter() has it
  } else {
    const Lock lock(x_shared->mutex);
    --x_shared->running;
  }
  return started;
}

bool Threads::wait_for_all(uint32_t ms) {
  const Lock lock(x_shared->mutex);
  const timespec end = in_ms(ms);
  while (x_shared->running > 0 && ::pthread_cond_timedwait(&x_shared->changed, &x_shared->mutex, &end) == 0) continue;
  return x_shared->running == 0;
}

uint32_t Threads::count() const {
  const Lock lock(x_shared->mutex);
  return x_shared->running;
}

}  // namespace gt::exec
