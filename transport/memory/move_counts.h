// How contents went from place to place, and which need not: counted from the start, for the report of goptimize.
// Thread safety: numbers that are counted up.
#pragma once

#include <atomic>
#include <cstdint>

namespace gt::memory {

struct MoveCounts {
  struct Way {
    std::atomic<uint64_t> moves{0}, bytes{0};
    void add(uint64_t moved_bytes) {
      ++moves;
      bytes += moved_bytes;
    }
  };
  Way here;     // between drivers of this process
  Way device;   // of these: from device to device, not through the host's memory
  Way direct;   // from proxy to proxy, or inside one
  Way known;    // of writes: chunks, and bytes of them, that a proxy was thought to have, and that were not sent
  Way missed;   // pieces of these that it did not have, and that were sent all the same
  Way packed;   // of writes: chunks that were sent compressed, and how many bytes fewer
  Way unpacked; // of reads, likewise
  Way relayed;  // through this process: to or from a device here, or because proxies do not reach each other
};

}  // namespace gt::memory
