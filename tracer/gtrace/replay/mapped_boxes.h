// How the data lies behind the pointers that map calls gave: images have pitches of the driver's choice.
// Thread safety: any thread; a lock each time.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "traces/api/host_box.h"
#include "traces/base/mutex.h"

namespace gt::tracer {

class MappedBoxes {
 public:
  void set(uint64_t address, const api::HostBox& box) {
    const MutexLock lock(mutex_);
    boxes_[address] = box;
  }
  // Width 0: nothing is known of it.
  api::HostBox find(uint64_t address) const {
    const MutexLock lock(mutex_);
    const auto it = boxes_.find(address);
    return it == boxes_.end() ? api::HostBox{} : it->second;
  }

 private:
  mutable Mutex mutex_;
  std::unordered_map<uint64_t, api::HostBox> boxes_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
