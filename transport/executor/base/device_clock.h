// Device times told in this process's monotonic clock.
//
// A driver stamps QUEUED with the device's clock while a command is enqueued, so each command gives one sample of the
// distance between both clocks: never too large, too small by what the call took. The largest is the best one; it
// ages by 20 ns per ms, so that clocks that drift apart are followed.
// Thread safety: all functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "traces/base/mutex.h"

namespace gt::exec {

class DeviceClock {
 public:
  // `enqueued_ns`: monotonic, taken before the command was enqueued. What to add to its device times.
  int64_t distance(int64_t enqueued_ns, uint64_t queued_device_ns) {
    const MutexLock lock(mutex_);
    const int64_t distance = enqueued_ns - static_cast<int64_t>(queued_device_ns);
    const int64_t aged = distance_ - (enqueued_ns - since_) / 50'000;
    if (known_ && distance < aged) return aged;
    distance_ = distance;
    since_ = enqueued_ns;
    known_ = true;
    return distance;
  }

 private:
  Mutex mutex_;
  bool known_ GT_GUARDED_BY(mutex_) = false;
  int64_t distance_ GT_GUARDED_BY(mutex_) = 0, since_ GT_GUARDED_BY(mutex_) = 0;
};

}  // namespace gt::exec
