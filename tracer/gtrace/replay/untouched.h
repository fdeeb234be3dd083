// Buffers, images and blocks of shared virtual memory that nothing has written or used since they were made: what a map
// or a read finds there is nobody's.
// Thread safety: any thread; a lock each time there are any.
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_set>

#include "traces/base/mutex.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

inline bool is_memory_object(model::ObjectKind kind) {
  return kind == model::ObjectKind::Buffer || kind == model::ObjectKind::Image;
}

class Untouched {
 public:
  // By its handle, or a block's address.
  void made(uint64_t object) {
    const MutexLock lock(mutex_);
    objects_.insert(object);
    count_.store(objects_.size());
  }
  void touch(uint64_t object) {
    const MutexLock lock(mutex_);
    objects_.erase(object);
    count_.store(objects_.size());
  }
  bool has(uint64_t object) const {
    if (!any()) return false;
    const MutexLock lock(mutex_);
    return objects_.contains(object);
  }
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }

 private:
  mutable Mutex mutex_;
  std::unordered_set<uint64_t> objects_ GT_GUARDED_BY(mutex_);
  std::atomic<size_t> count_{0};
};

}  // namespace gt::tracer
