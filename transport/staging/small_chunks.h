// Pinned chunks for transfers that need one each. A chunk whose command still runs is not free; nobody waits for one:
// when none is free, the transfer goes the program's own way.
// Invariant: a chunk in flight holds one reference to its command's event. Thread safety: all but open and close.
#pragma once

#include "traces/base/mutex.h"
#include "transport/staging/pinned_memory.h"

namespace gt::staging {

class SmallChunks {
 public:
  static constexpr size_t ChunkBytes = size_t{256} << 10;

  constexpr SmallChunks() = default;

  bool open(const ClFunctions& cl, CopyThreads& copy_threads, cl_context context) noexcept;
  void close() noexcept;
  bool is_open() const noexcept { return memory_.is_open(); }

  static constexpr int None = -1;
  int take() noexcept;  // None: all are in use
  char* data(int chunk) const noexcept { return memory_.data() + static_cast<size_t>(chunk) * ChunkBytes; }
  void give_back(int chunk) noexcept;
  // Lets go of the events of commands that are over.
  void reap() noexcept;
  // Free when `event` is done. Takes over the caller's reference.
  void give_back_after(int chunk, cl_event event) noexcept;

 private:
  static constexpr int Count = 16;
  struct Chunk {
    bool taken = false;
    cl_event in_flight = nullptr;
  };
  bool has_landed(Chunk& chunk) const noexcept GT_REQUIRES(mutex_);

  const ClFunctions* cl_ = nullptr;
  PinnedMemory memory_;
  Mutex mutex_;
  Chunk chunks_[Count] GT_GUARDED_BY(mutex_);
  int next_ GT_GUARDED_BY(mutex_) = 0;  // the one given back longest ago is tried first
};

}  // namespace gt::staging
