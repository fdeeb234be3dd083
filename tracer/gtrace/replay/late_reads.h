// Reads that did not wait: their data is compared when the recording saw it, at a later call that waits.
//
// That call names the place of the data as it was seen then. A place on a stack is counted from the top of the stack at
// each call, so there the nearest one of the same size is meant.
// Thread safety: any thread; a lock each time.
#pragma once

#include <cstdlib>
#include <optional>
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
};

class LateReads {
 public:
  void add(const LateRead& read) {
    const MutexLock lock(mutex_);
    reads_.push_back(read);
  }
  // Is one of them to put its data there? What a command sends from there then is that.
  bool touch(const HostPlace& place, size_t bytes) {
    const MutexLock lock(mutex_);
    for (const LateRead& r : reads_) {
      const bool same = r.place.cls == place.cls && r.place.slot == place.slot;
      if (same && r.place.offset < place.offset + static_cast<int64_t>(bytes) &&
          place.offset < r.place.offset + static_cast<int64_t>(r.box.extent()))
        return true;
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
      return read;
    }
    return std::nullopt;
  }

 private:
  static constexpr int64_t NearOnStack = 4096;

  Mutex mutex_;
  std::vector<LateRead> reads_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
