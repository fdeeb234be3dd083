// How the data lies behind the pointers that OpenCL gave: images are mapped with pitches of the driver's choice. And
// how far one may go behind them. Thread safety: any thread; a lock each time.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include "traces/api/host_box.h"
#include "traces/base/mutex.h"

namespace gt::tracer {

class MappedBoxes {
 public:
  // Memory was mapped, or allocated.
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
  // Bytes from an address to the end of the memory that it is in.
  uint64_t room(uint64_t address) const {
    const MutexLock lock(mutex_);
    const auto behind = boxes_.upper_bound(address);
    if (behind == boxes_.begin()) return 0;
    const auto& [begin, box] = *std::prev(behind);
    const uint64_t end = begin + box.extent();
    return address < end ? end - address : 0;
  }

 private:
  mutable Mutex mutex_;
  std::map<uint64_t, api::HostBox> boxes_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
