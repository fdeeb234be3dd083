// The executor's threads: all signals blocked, counted, never joined: a thread that is stuck in a driver must not hold
// up the end of a session, so each keeps alive what it uses.
// Thread safety: all functions.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>

#include "traces/base/mutex.h"

namespace gt::exec {

class Threads {
 public:
  // `run` must not throw; what it holds goes on that thread, before it counts as ended. `name`: a literal of at most 15
  // characters. False: the system refused.
  bool start(const char* name, size_t stack_bytes, std::function<void()> run);
  // False: some were still running after `ms`.
  bool wait_for_all(uint32_t ms);
  uint32_t count() const;

 private:
  struct Shared {
    Mutex mutex;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    uint32_t running GT_GUARDED_BY(mutex) = 0;
  };
  struct Start;
  static void* enter(void* start);

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace gt::exec
