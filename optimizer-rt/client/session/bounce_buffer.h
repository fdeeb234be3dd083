// The client's end of the bounce buffer of an executor of this node (transport/executor/transfer/bounce_buffer.h):
// memory that both see, and that is pinned, used as a ring. Bytes of other memory are copied there or from there, once,
// here; the device does the rest in place, and no other thread takes part but those that copy. For transfers so small
// that overlapping the copy with the device's work in chunks (bulk_sender.h) would gain less than chunks cost.
//
// Rooms are taken in turn, through the whole ring: a device is slower at memory that processors have just had in their
// caches (docs/measurements/remote.md). They are given back in any order; one that stays taken for long only sends
// later transfers another way.
// Thread safety: open() first, then any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "traces/base/mutex.h"
#include "transport/executor/transfer/ring_rooms.h"
#include "transport/link/base/link.h"

namespace gt::virt {

class BounceBuffer {
 public:
  static constexpr size_t Largest = size_t{4} << 20;  // of one transfer

  // No memory: nothing has room in it.
  void open(void* ring, size_t bytes) {
    const MutexLock lock(mutex_);
    base_ = static_cast<uint8_t*>(ring);
    rooms_.emplace(bytes, Line);
  }

  bool is_open() const { return base_ != nullptr; }  // with memory

  // Given back when the last copy goes. REQUIRES: this outlives it.
  struct Room {
    std::shared_ptr<uint8_t[]> bytes;  // nullptr: there is no room
    uint64_t offset = 0;               // in the ring
  };
  Room take(size_t bytes);

 private:
  static constexpr size_t Line = 4096;

  uint8_t* base_ = nullptr;
  Mutex mutex_;
  std::optional<exec::RingRooms> rooms_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::virt
