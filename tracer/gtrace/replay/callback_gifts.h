// What a callback was given before the call had returned that made it: the program of a clLinkProgram that does not
// wait. The recording met it under a name of its own, in the callback; here the call has returned, so it is known by
// what registered the callback. Thread safety: any thread; a lock each time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "traces/base/mutex.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

class CallbackGifts {
 public:
  // The call that registered this callback made this object.
  void made(model::ClassId callback, int64_t slot, uint64_t object) {
    const MutexLock lock(mutex_);
    gifts_[{callback, slot}] = object;
  }
  // It is given once. 0: there is none.
  uint64_t take(model::ClassId callback, int64_t slot) {
    const MutexLock lock(mutex_);
    const auto it = gifts_.find({callback, slot});
    if (it == gifts_.end()) return 0;
    const uint64_t object = it->second;
    gifts_.erase(it);
    return object;
  }

 private:
  Mutex mutex_;
  std::map<std::pair<model::ClassId, int64_t>, uint64_t> gifts_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
