// Addresses inside data: shared virtual memory lies elsewhere in a replay, and what pointed into it has to follow.
//
// A word of eight bytes whose value lies in memory that the recording had stands for the same place here: drivers
// choose addresses themselves, so nothing can be put where it was. A number may look like an address, but where nothing
// is shared. Memory that was freed keeps its addresses until other memory has them: lists may still hold them.
// Thread safety: any thread; a lock each time, none while nothing is shared.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>

#include "traces/base/mutex.h"

namespace gt::tracer {

class SharedAddresses {
 public:
  // Memory that lay at `recorded` lies at `here` now.
  void add(uint64_t recorded, uint64_t here, uint64_t bytes);
  // Every eighth byte begins a word. True: something was changed.
  bool to_here(std::span<uint8_t> data) const { return change(&SharedAddresses::to_here_, data); }
  bool to_recorded(std::span<uint8_t> data) const { return change(&SharedAddresses::to_recorded_, data); }

 private:
  struct Block {
    uint64_t bytes = 0, other = 0;
  };
  using Blocks = std::map<uint64_t, Block>;  // by address

  static void put(Blocks& blocks, uint64_t at, const Block& block);
  bool change(Blocks SharedAddresses::*which, std::span<uint8_t> data) const;

  mutable Mutex mutex_;
  std::atomic<bool> any_{false};  // that lies elsewhere
  Blocks to_here_ GT_GUARDED_BY(mutex_), to_recorded_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
