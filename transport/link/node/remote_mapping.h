// Shared memory of the peer's that is mapped here.
//
// A mapping's addresses stay valid until the link is gone, whatever the peer does: memory that it withdraws is replaced
// by private pages of zeros, because the program may still hold a pointer that view() gave.
// Thread safety: all functions; view() without a lock.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "traces/base/mutex.h"
#include "transport/link/base/link.h"

namespace gt::wire {

class RemoteMapping {
 public:
  RemoteMapping() = default;
  RemoteMapping(const RemoteMapping&) = delete;
  RemoteMapping& operator=(const RemoteMapping&) = delete;
  ~RemoteMapping();

  // Errors: Corrupt (the memory or the number is not to be used), Busy (too much), System.
  Status map(SegmentId segment, int memory, uint64_t offset, uint64_t bytes);
  void withdraw(SegmentId segment);
  // nullptr: [offset, offset + bytes) is not inside such a segment.
  char* view(Address at, size_t bytes) const noexcept {
    const Entry* const e = find(at.segment);
    if (!e || e->withdrawn.load(std::memory_order_acquire)) return nullptr;
    return at.offset <= e->bytes && bytes <= e->bytes - at.offset ? e->base + at.offset : nullptr;
  }

 private:
  static constexpr size_t PageEntries = 1024, Pages = 1024;
  static constexpr uint64_t MostBytes = uint64_t{4} << 40;
  struct Entry {
    char* base = nullptr;
    uint64_t bytes = 0;
    std::atomic<bool> withdrawn{false};
    void* mapping = nullptr;  // page-aligned
    size_t mapping_bytes = 0;
  };
  using Page = std::array<std::atomic<Entry*>, PageEntries>;

  Entry* find(SegmentId segment) const noexcept {
    if (segment >= PageEntries * Pages) return nullptr;
    const Page* const page = pages_[segment / PageEntries].load(std::memory_order_acquire);
    return page ? (*page)[segment % PageEntries].load(std::memory_order_acquire) : nullptr;
  }

  std::array<std::atomic<Page*>, Pages> pages_{};
  Mutex mutex_;  // of changes
  uint64_t mapped_bytes_ GT_GUARDED_BY(mutex_) = 0;
};

}  // namespace gt::wire
