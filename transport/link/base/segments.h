// Memory of this side that the peer may access: checked for every access, and held in place during it.
//
// Thread safety: all functions. withdraw() waits for accesses that are under way, which never block.
#pragma once

#include <functional>
#include <unordered_map>

#include "traces/base/mutex.h"
#include "transport/link/base/link.h"

namespace gt::wire {

class Segments {
 public:
  static constexpr size_t Most = 65536;  // segments of one side

  Segments() = default;
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;
  ~Segments();

  // `mapped`: unmapped when it is withdrawn.
  Result<SegmentId> add(void* base, size_t bytes, bool mapped = false);
  // From now on it is unmapped when it is withdrawn.
  void own(SegmentId segment);
  // Where it was; nullptr: no such segment.
  struct Memory {
    char* base = nullptr;
    size_t bytes = 0;
    bool mapped = false;
  };
  // Taken out; the caller calls release() when nothing refers to it any more.
  Memory withdraw(SegmentId segment);
  static void release(const Memory& memory);

  // Calls `use` with the memory. False: [offset, offset + bytes) is not inside the segment.
  bool use(Address at, size_t bytes, const std::function<void(char*)>& use);
  bool holds(Address at, size_t bytes);

 private:
  char* find(Address at, size_t bytes) GT_REQUIRES(mutex_);

  Mutex mutex_;
  std::unordered_map<SegmentId, Memory> segments_ GT_GUARDED_BY(mutex_);
  SegmentId next_ GT_GUARDED_BY(mutex_) = 1;
};

}  // namespace gt::wire
