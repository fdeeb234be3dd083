// User events of a replay that nobody has set yet: commands wait for them, and whoever waits for those.
//
// A replay of a part ends before the calls that would set them, and one that looks at a launch comes before them.
// Thread safety: any thread; a lock each time.
#pragma once

#include <unordered_set>

#include "tracer/gtrace/replay/opencl_library.h"
#include "traces/base/mutex.h"

namespace gt::tracer {

class Gates {
 public:
  explicit Gates(const OpenClLibrary& cl) : cl_(cl) {}

  // It is held: the program may release it before it sets it.
  void made(uint64_t event) {
    if (cl_.get<decltype(clRetainEvent)>(api::FnId::clRetainEvent)(as_event(event)) != CL_SUCCESS) return;
    const MutexLock lock(mutex_);
    shut_.insert(event);
  }
  // False: it was opened before its time.
  bool may_set(uint64_t event) const {
    const MutexLock lock(mutex_);
    return !opened_.contains(event);
  }
  void was_set(uint64_t event) {
    const MutexLock lock(mutex_);
    if (shut_.erase(event) > 0) cl_.get<decltype(clReleaseEvent)>(api::FnId::clReleaseEvent)(as_event(event));
  }
  bool any_shut() const {
    const MutexLock lock(mutex_);
    return !shut_.empty();
  }
  void open_all() {
    const MutexLock lock(mutex_);
    const auto set = cl_.get<decltype(clSetUserEventStatus)>(api::FnId::clSetUserEventStatus);
    for (const uint64_t event : shut_) set(as_event(event), CL_COMPLETE);
    opened_.merge(shut_);
  }

 private:
  static cl_event as_event(uint64_t event) { return reinterpret_cast<cl_event>(event); }

  const OpenClLibrary& cl_;
  mutable Mutex mutex_;
  std::unordered_set<uint64_t> shut_ GT_GUARDED_BY(mutex_), opened_ GT_GUARDED_BY(mutex_);  // opened: held to the end
};

}  // namespace gt::tracer
