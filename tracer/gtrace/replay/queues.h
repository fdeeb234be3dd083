// The queues of a replay that somebody still holds: at its end their commands are waited for.
// Thread safety: any thread; a lock each time.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "traces/base/mutex.h"

namespace gt::tracer {

class LiveQueues {
 public:
  void hold(uint64_t queue) {
    const MutexLock lock(mutex_);
    ++holders_[queue];
  }
  // True: nobody holds it after this.
  bool last(uint64_t queue) const {
    const MutexLock lock(mutex_);
    const auto it = holders_.find(queue);
    return it != holders_.end() && it->second == 1;
  }
  void release(uint64_t queue) {
    const MutexLock lock(mutex_);
    if (const auto it = holders_.find(queue); it != holders_.end() && --it->second == 0) holders_.erase(it);
  }
  std::vector<uint64_t> alive() const {
    const MutexLock lock(mutex_);
    std::vector<uint64_t> out;
    for (const auto& [queue, holders] : holders_) out.push_back(queue);
    return out;
  }

 private:
  mutable Mutex mutex_;
  std::unordered_map<uint64_t, int> holders_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
