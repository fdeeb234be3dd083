// Pinned memory for the bytes of small transfers. From pageable memory a driver copies them once more, on a thread of
// its own for reads (16 us in place of 8 for a read of 4 bytes on NVIDIA's).
// Where there is no room, or the driver refuses to pin, it is memory like any other.
// Thread safety: PinnedRing: all functions. SmallBytes: none.
#pragma once

#include <memory>

#include "traces/base/bytes.h"
#include "traces/base/mutex.h"
#include "transport/executor/base/session.h"
#include "transport/executor/transfer/ring_rooms.h"
#include "transport/staging/pinned_memory.h"

namespace gt::exec {

class PinnedRing {
 public:
  explicit PinnedRing(std::shared_ptr<Session> session)
      : session_(std::move(session)), rooms_(session_->options.small_bytes, 64) {}
  ~PinnedRing() { memory_.close(session_->cl); }
  PinnedRing(const PinnedRing&) = delete;
  PinnedRing& operator=(const PinnedRing&) = delete;

  // Before anything else. False: there is to be none, or the driver refuses.
  bool open(cl_context context);
  // nullptr: no room.
  uint8_t* take(size_t bytes);
  void give_back(const uint8_t* begin);

 private:
  std::shared_ptr<Session> session_;
  staging::CopyThreads copy_threads_;  // without helpers
  staging::PinnedMemory memory_;
  Mutex mutex_;
  RingRooms rooms_ GT_GUARDED_BY(mutex_);
};

// The bytes of one transfer: of a ring, or of the heap.
class SmallBytes {
 public:
  // `ring`: nullptr for none.
  SmallBytes(std::shared_ptr<PinnedRing> ring, size_t size);
  SmallBytes(SmallBytes&& other) noexcept;
  SmallBytes& operator=(SmallBytes&& other) noexcept;
  ~SmallBytes();

  uint8_t* data() const { return data_; }
  ByteView view() const { return {data_, size_}; }
  // They stay for ever: a device that is stuck may still look at them.
  void abandon();

 private:
  std::shared_ptr<PinnedRing> ring_;  // nullptr: of the heap
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gt::exec
