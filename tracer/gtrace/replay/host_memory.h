// The program's own memory in a replay: blocks that take the place of what transfers moved from and to.
//
// Memory is named (class, slot, offset), as the trace names it. It appears when a call first needs it, as large as the
// call needs; overlapping places share memory. What a call may still be using stays where it is: a place that grows
// gets new memory, with what was in the old one, and the old one lives until the end. Blocks come from calloc(), so
// that goptimize may choose their kind. Thread safety: any thread; a lock each time.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "traces/base/mutex.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct HostPlace {
  model::ClassId cls = model::NoIndex;
  int64_t slot = 0, offset = 0;
  bool operator==(const HostPlace&) const = default;
};

class HostMemory {
 public:
  // `bytes` from `place` on. nullptr: there is no memory for it.
  uint8_t* at(const HostPlace& place, size_t bytes);
  // The place was filled with what has this number; what covers it is forgotten. -1: with something else.
  void note_content(const HostPlace& place, size_t bytes, int64_t content);
  bool holds(const HostPlace& place, size_t bytes, int64_t content) const;
  size_t bytes() const;

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  struct Range {
    std::shared_ptr<void> memory;
    uint8_t* base = nullptr;
    int64_t end = 0;
  };
  struct Content {
    int64_t end = 0, number = -1;
  };
  using Ranges = std::map<int64_t, Range>;  // by first offset
  struct Block {
    Ranges ranges;
    std::map<int64_t, Content> contents;  // the same, of what is known
  };
  using Key = std::pair<model::ClassId, int64_t>;

  Ranges::iterator grow(Block& block, int64_t begin, int64_t end) GT_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<Key, Block> blocks_ GT_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<void>> old_ GT_GUARDED_BY(mutex_);
  size_t bytes_ GT_GUARDED_BY(mutex_) = 0;
};

}  // namespace gt::tracer
