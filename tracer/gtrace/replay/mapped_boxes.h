// How the data lies behind the pointers that OpenCL gave: images are mapped with pitches of the driver's choice. And
// how far one may go behind them. Thread safety: any thread; a lock each time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "traces/api/host_box.h"
#include "traces/base/mutex.h"

namespace gt::tracer {

class MappedBoxes {
 public:
  // Memory was mapped.
  void set(uint64_t address, const api::HostBox& box) {
    const MutexLock lock(mutex_);
    boxes_[address] = box;
  }
  // It was mapped by its address: how much of it, is said where it is given back.
  void forget(uint64_t address) {
    const MutexLock lock(mutex_);
    boxes_.erase(address);
  }
  // Memory was allocated: what is mapped may lie in it, but not what was at its place before.
  void set_block(uint64_t address, uint64_t bytes) {
    const MutexLock lock(mutex_);
    blocks_.erase(blocks_.lower_bound(address), blocks_.lower_bound(address + bytes));
    boxes_.erase(boxes_.lower_bound(address), boxes_.lower_bound(address + bytes));
    blocks_[address] = bytes;
  }
  // Width 0: nothing is known of it.
  api::HostBox find(uint64_t address) const {
    const MutexLock lock(mutex_);
    const auto it = boxes_.find(address);
    return it == boxes_.end() ? api::HostBox{} : it->second;
  }
  // Of a map call that did not wait: until its data is there, the program writes nothing behind its pointer. `seen`:
  // the recording says when it came; else any waiting of the program's is taken for that, if the call's command is over
  // (`event`, retained; 0: nobody knows).
  struct Later {
    bool seen = false, waited = false;
    uint64_t event = 0;
  };
  void comes_later(uint64_t address, bool seen, uint64_t event) {
    const MutexLock lock(mutex_);
    later_[address] = {seen, false, event};
    any_later_.store(true, std::memory_order_relaxed);
  }
  // No more; gives what was known of it.
  std::optional<Later> take_later(uint64_t address) {
    const MutexLock lock(mutex_);
    const auto it = later_.find(address);
    if (it == later_.end()) return std::nullopt;
    const Later later = it->second;
    later_.erase(it);
    any_later_.store(!later_.empty(), std::memory_order_relaxed);
    return later;
  }
  void program_waited() {
    if (!any_later_.load(std::memory_order_relaxed)) return;
    const MutexLock lock(mutex_);
    for (auto& [address, later] : later_) later.waited = !later.seen;
  }
  bool is_to_come(uint64_t address) const {
    const MutexLock lock(mutex_);
    const auto it = later_.find(address);
    return it != later_.end() && !it->second.waited;
  }
  // Bytes from an address to the end of the memory that it is in.
  uint64_t room(uint64_t address) const {
    const MutexLock lock(mutex_);
    const uint64_t mapped = room_in(boxes_, address, [](const api::HostBox& box) { return box.extent(); });
    return std::max(mapped, room_in(blocks_, address, [](uint64_t bytes) { return bytes; }));
  }

 private:
  template <class Map, class Bytes>
  static uint64_t room_in(const Map& map, uint64_t address, Bytes bytes) {
    const auto behind = map.upper_bound(address);
    if (behind == map.begin()) return 0;
    const auto& [begin, value] = *std::prev(behind);
    const uint64_t end = begin + bytes(value);
    return address < end ? end - address : 0;
  }

  mutable Mutex mutex_;
  std::map<uint64_t, api::HostBox> boxes_ GT_GUARDED_BY(mutex_);
  std::map<uint64_t, uint64_t> blocks_ GT_GUARDED_BY(mutex_);
  std::map<uint64_t, Later> later_ GT_GUARDED_BY(mutex_);
  std::atomic<bool> any_later_{false};  // for waits, of which there are many
};

}  // namespace gt::tracer
