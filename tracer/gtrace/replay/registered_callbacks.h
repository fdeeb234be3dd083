// What stands behind a callback that a replayed call has registered. Nobody is called back, but what the program's
// function did is done again, and not before a driver could have called it: a launch may follow the command that the
// function was to be told of, and memory may be freed that it used.
// Thread safety: any thread; a lock each time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "traces/base/mutex.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct RegisteredCallback {
  // The program of a clLinkProgram that does not wait: the recording met it in the callback, under a name of its own.
  uint64_t program = 0;
  // Retained; and how far its command is to be: an execution status. 0: nothing is waited for.
  uint64_t event = 0;
  int32_t status = 0;
};

class RegisteredCallbacks {
 public:
  void add(model::ClassId callback, int64_t slot, const RegisteredCallback& registered) {
    const MutexLock lock(mutex_);
    callbacks_[{callback, slot}] = registered;
  }
  // It is given once.
  RegisteredCallback take(model::ClassId callback, int64_t slot) {
    const MutexLock lock(mutex_);
    const auto it = callbacks_.find({callback, slot});
    if (it == callbacks_.end()) return {};
    const RegisteredCallback registered = it->second;
    callbacks_.erase(it);
    return registered;
  }

 private:
  Mutex mutex_;
  std::map<std::pair<model::ClassId, int64_t>, RegisteredCallback> callbacks_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
