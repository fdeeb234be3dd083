// What the recorded names stand for in a replay: handles of OpenCL, and memory that OpenCL gave.
//
// A name is (class, slot). It stands for the object that the call made which defined it last, so slots that were used
// again need nothing.
// Thread safety: any thread; a lock each time.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "traces/base/mutex.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

// Was the object never seen made? It came to the program through something that is not recorded, or before its maker's
// call returned.
inline bool was_met(const model::Trace& trace, model::ClassId cls) { return trace.classes[cls].fn == 0; }

// Memory that the program had by itself, not from OpenCL.
inline bool is_program_memory(model::ObjectKind kind) {
  return kind >= model::ObjectKind::Segment && kind != model::ObjectKind::Svm && kind != model::ObjectKind::Mapping;
}

class ReplayObjects {
 public:
  explicit ReplayObjects(const model::Trace& trace) : trace_(trace) {}

  static constexpr uint64_t Lost = ~uint64_t{0};  // the call that made it in the recording could not be made

  // 0: no call has made it yet.
  uint64_t find(model::ClassId cls, int64_t slot) const {
    const MutexLock lock(mutex_);
    const auto it = objects_.find(key(cls, slot));
    return it == objects_.end() ? 0 : it->second;
  }
  void set(model::ClassId cls, int64_t slot, uint64_t value) {  // a handle, an address, Lost
    const MutexLock lock(mutex_);
    uint64_t& object = objects_[key(cls, slot)];
    const bool event = trace_.classes[cls].kind == model::ObjectKind::Event;
    if (object != value && !event) changes_.fetch_add(1, std::memory_order_relaxed);
    object = value;
    // What was mapped inside the memory that had this name before has gone with it.
    auto it = mapped_.lower_bound({cls, slot, INT64_MIN});
    while (it != mapped_.end() && std::get<0>(it->first) == cls && std::get<1>(it->first) == slot)
      it = mapped_.erase(it);
  }

  // A map call's answer that lies in the program's own memory (a buffer that uses it in place) may be elsewhere here.
  uint64_t mapped(model::ClassId cls, int64_t slot, int64_t offset) const {
    const MutexLock lock(mutex_);
    const auto it = mapped_.find({cls, slot, offset});
    return it == mapped_.end() ? 0 : it->second;
  }
  void set_mapped(model::ClassId cls, int64_t slot, int64_t offset, uint64_t value) {
    const MutexLock lock(mutex_);
    mapped_[{cls, slot, offset}] = value;
  }

  // How often a name has come to stand for something else; events, which loops make all the time, do not count.
  uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }

  // All that are known of the classes of one kind.
  std::vector<uint64_t> of_kind(model::ObjectKind kind) const {
    const MutexLock lock(mutex_);
    std::vector<uint64_t> out;
    for (const auto& [k, value] : objects_) {
      if (trace_.classes[static_cast<model::ClassId>(k >> 40)].kind == kind) out.push_back(value);
    }
    return out;
  }

 private:
  static uint64_t key(model::ClassId cls, int64_t slot) {
    return (uint64_t{cls} << 40) | (static_cast<uint64_t>(slot) & ((uint64_t{1} << 40) - 1));
  }

  const model::Trace& trace_;
  std::atomic<uint64_t> changes_{0};
  mutable Mutex mutex_;
  std::unordered_map<uint64_t, uint64_t> objects_ GT_GUARDED_BY(mutex_);
  std::map<std::tuple<model::ClassId, int64_t, int64_t>, uint64_t> mapped_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
