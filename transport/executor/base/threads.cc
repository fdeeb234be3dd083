#include "transport/executor/base/threads.h"

#include "traces/base/clock.h"
#include "transport/staging/thread.h"

namespace gt::exec {

struct Threads::Start {
  std::shared_ptr<Shared> shared;
  std::function<void()> run;
};

void* Threads::enter(void* start) {
  const std::unique_ptr<Start> own(static_cast<Start*>(start));
  own->run();
  own->run = nullptr;  // lets go of what it kept before it counts as ended
  const MutexLock lock(own->shared->mutex);
  --own->shared->running;
  ::pthread_cond_broadcast(&own->shared->changed);
  return nullptr;
}

bool Threads::start(const char* name, size_t stack_bytes, std::function<void()> run) {
  auto start = std::make_unique<Start>(Start{shared_, std::move(run)});
  {
    const MutexLock lock(shared_->mutex);
    ++shared_->running;
  }
  const bool started = staging::start_detached(name, enter, start.get(), stack_bytes);
  if (started) {
    start.release();  // enter() has it
  } else {
    const MutexLock lock(shared_->mutex);
    --shared_->running;
  }
  return started;
}

bool Threads::wait_for_all(uint32_t ms) {
  const MutexLock lock(shared_->mutex);
  const timespec end = deadline_in_ms(ms);
  const auto wait = [&] { return ::pthread_cond_timedwait(&shared_->changed, shared_->mutex.native_handle(), &end); };
  while (shared_->running > 0 && wait() == 0) continue;
  return shared_->running == 0;
}

uint32_t Threads::count() const {
  const MutexLock lock(shared_->mutex);
  return shared_->running;
}

}  // namespace gt::exec
