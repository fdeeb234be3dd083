// Reads that did not wait: their data is compared when the recording saw it, at a later call that waits.
//
// That call names the place of the data as it was seen then. A place on a stack is counted from the top of the stack at
// each call, so there the nearest one of the same size is meant.
// Thread safety: any thread; a lock each time, but any().
#pragma once

#include <atomic>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tracer/gtrace/replay/host_memory.h"
#include "traces/api/host_box.h"
#include "traces/base/mutex.h"

namespace gt::tracer {

struct LateRead {
  HostPlace place;
  uint8_t* at = nullptr;
  api::HostBox box;
  uint64_t call = 0;
  model::ThreadId thread = 0;
  model::ShapeId shape = 0;
  uint64_t buffer = 0;
  uint64_t event = 0;    // of the read, held
  bool unknown = false;  // what it reads was not recorded whole
  uint64_t queue = 0;    // in order; 0: it is not
  uint64_t order = 0;    // of all commands that were noted
};

class LateReads {
 public:
  void add(const LateRead& read) {
    const MutexLock lock(mutex_);
    reads_.push_back(read);
    reads_.back().order = ++order_;
    count_.store(reads_.size(), std::memory_order_relaxed);
  }
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  // A command that was enqueued while reads are on their way.
  void note_event(uint64_t event) {
    const MutexLock lock(mutex_);
    events_[event] = ++order_;
  }
  // The program has waited for a command of this queue (event 0: for all): the reads before it in the same queue
  // are over, and not looked at. Gives their events, to be released.
  std::vector<uint64_t> waited(uint64_t queue, uint64_t event) {
    const MutexLock lock(mutex_);
    const auto known = events_.find(event);
    const uint64_t before = event == 0 ? order_ + 1 : known == events_.end() ? 0 : known->second;
    std::vector<uint64_t> over;
    std::erase_if(reads_, [&](const LateRead& r) {
      const bool gone = queue != 0 && r.queue == queue && r.order < before;
      if (gone && r.event != 0) over.push_back(r.event);
      return gone;
    });
    if (reads_.empty()) events_.clear();
    count_.store(reads_.size(), std::memory_order_relaxed);
    return over;
  }
  // Is one of them to put its data there? What a command sends from there then is that.
  bool touch(const HostPlace& place, size_t bytes) {
    const MutexLock lock(mutex_);
    for (const LateRead& r : reads_) {
      if (touches(r, place, bytes)) return true;
    }
    return false;
  }
  std::optional<LateRead> take(const HostPlace& place, uint64_t bytes, bool on_stack) {
    const MutexLock lock(mutex_);
    for (auto it = reads_.begin(); it != reads_.end(); ++it) {
      const api::HostBox& box = it->box;
      const bool same =
          it->place.cls == place.cls && it->place.slot == place.slot && box.width * box.height * box.depth == bytes;
      const bool near = on_stack && std::llabs(it->place.offset - place.offset) < NearOnStack;
      if (!same || (!near && it->place.offset != place.offset)) continue;
      const LateRead read = *it;
      reads_.erase(it);
      count_.store(reads_.size(), std::memory_order_relaxed);
      return read;
    }
    return std::nullopt;
  }

 private:
  static bool touches(const LateRead& r, const HostPlace& place, size_t bytes) {
    return r.place.cls == place.cls && r.place.slot == place.slot &&
           r.place.offset < place.offset + static_cast<int64_t>(bytes) &&
           place.offset < r.place.offset + static_cast<int64_t>(r.box.extent());
  }
  static constexpr int64_t NearOnStack = 4096;

  mutable Mutex mutex_;
  std::vector<LateRead> reads_ GT_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, uint64_t> events_ GT_GUARDED_BY(mutex_);  // their place in the order
  uint64_t order_ GT_GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> count_{0};  // of reads_, for who asks without the lock
};

}  // namespace gt::tracer
