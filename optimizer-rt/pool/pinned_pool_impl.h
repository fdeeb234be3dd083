// The span record of the pool; private to pinned_pool.cc and pinned_pool_spans.cc.
#pragma once

#include <sys/mman.h>

#include "optimizer-rt/pool/pinned_pool.h"

namespace gt::opt {

constexpr size_t PageBytes = size_t{64} << 10;
constexpr uint32_t HugePages = HugePage / PageBytes;  // pool pages in one huge page
constexpr size_t RoundingPages = 256;  // from 16 MiB up, sizes are whole huge pages (12 % at most)
constexpr size_t LargestSmall = size_t{256} << 10;
constexpr size_t LargestSlabBlocks = 1024;

// Invariant: kind Free <=> on a free list, save for the one being trimmed (kind Trimming, on no
// list).
struct PinnedPool::Span {
  enum Kind : uint8_t { Unused, Free, Large, Slab, Trimming };
  PageId page = 0, pages = 0;
  SpanId next = 0, prev = 0;  // free list, or list of partial slabs
  PinToken pin = 0;
  SiteIndex site = 0;
  Kind kind = Unused;
  uint8_t size_class = 0;
  bool dirty = false;   // may hold something else than zeros
  bool mapped = false;  // every page, not only the ends, maps to this span
  uint16_t blocks = 0, free_blocks = 0;
  uint64_t used[LargestSlabBlocks / 64];  // Slab: one bit a block
};

inline PinnedPool::Span& PinnedPool::span(SpanId id) const noexcept { return x_spans[id]; }
inline char* PinnedPool::address(const Span& s) const noexcept {
  return x_arena.base() + s.page * PageBytes;
}

inline void give_back_to_system(void* base, size_t bytes) { ::madvise(base, bytes, MADV_DONTNEED); }

}  // namespace gt::opt
