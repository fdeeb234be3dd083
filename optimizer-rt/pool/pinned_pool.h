// A user-space allocator over one arena, whose memory is reused so that page faults and pinning are
// paid once.
//
// The arena is cut into *spans* of whole 64 KiB pages. A large block (above 256 KiB) is a span;
// smaller blocks share a span of one site and one size class (a slab). A span is also what is
// pinned: every block lies in one span, so every transfer of a block lies in one pinned range, as
// drivers want it. A freed span keeps its pin for the next block, until it is given back to the system: when more than
// cache_bytes are kept, when memory is short, or when it lies idle. The pool has no clock but work: the bytes of the
// spans that are taken, and of the transfers it is told of. A span is idle when the program has worked IdleFactor times
// its size since it was freed: at the fastest link's 0.02 ns a byte that took 5 ns for each of its bytes, and to get it
// back, faults and pin, takes some 0.4. So whatever a program does, that costs it less than a tenth.
//
//   arena   | slab 4K (site 1) | large 3.1 MiB (site 0, pinned) | free 64 MiB (pinned) | ... |
//   never used yet | page    0                  8                                58 top_
//
// A span whose pages the program changes by itself (madvise, mprotect, mremap, mmap, munmap: legal for pages of a large
// block) is set aside: it is not pinned and not mapped by others any more, and when it is free it gets new pages before
// it is used again.
//
// Invariants (is_valid): spans tile [0, top_) without gap or overlap; page_span_ maps every page
// of a span in use and the first and last page of a free one to it; no two neighbours are free and
// alike; live_ counts bytes of spans in use. Blocks are aligned to 64 bytes at least; large
// ones from 2 MiB up to huge pages. Limits: what does not fit (exhausted arena, memory limit,
// alignment above 2 MiB) gives nullptr: the caller asks libc. Thread safety: all members from any
// thread; one mutex, never held during a driver call. A call from a signal handler that interrupted
// this pool on the same thread gets nullptr, or queues its free. fork: lock_for_fork before,
// unlock_after_fork on both sides; the child keeps a private copy of everything (for which a shared pool copies its
// live spans: some 0.3 ns a byte).
// Cost: about 40 ns a small block, below 1 us a reused large one, whatever its size.
// Depends on libc's mmap family and pthread mutexes only; usable before any constructor has run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "optimizer-rt/pool/arena.h"
#include "traces/base/mutex.h"

namespace gt::opt {

using PinToken = uint64_t;  // what the pin layer remembers of a span; 0: not pinned
using SiteIndex = uint16_t;
constexpr size_t MaxSites = 256;  // of a plan
// A site's blocks of sizes that its profile did not see are those of a site of their own, numbered from MaxSites on:
// they share no span with the others, and are on trial apart from them.
constexpr size_t MaxPoolSites = 2 * MaxSites;

// The span around a pointer.
struct Extent {
  char* base = nullptr;
  size_t bytes = 0;
  PinToken pin = 0;
  SiteIndex site = 0;
  bool aside = false;  // the program changes its pages by itself: nobody else may rely on them
};

struct PoolOptions {
  size_t reserve_bytes = 0;
  size_t limit_bytes = 0;  // spans in use and cached together never exceed this
  size_t cache_bytes = 0;  // freed memory above this goes back to the system
  bool lock = false;       // mlock new spans
  bool (*unpin)(PinToken) =
      nullptr;  // called without the lock; false: not now, keep the pin and the memory
  size_t (*short_of)() = nullptr;  // bytes that the system lacks, called without the lock; 0: none
  bool shared = false;     // in a file of memory that other processes may map; private where that is refused
  // Before memory goes back: others must let go of it. Called without the lock; false: not now, keep the memory.
  bool (*deregister)(void* base, size_t bytes) = nullptr;
};

// Bytes that went back to the system, by why.
struct Returned {
  size_t excess = 0, short_memory = 0, idle = 0;
};

class PinnedPool {
 public:
  constexpr PinnedPool() = default;

  // One of the two, once, before anything else. False: the pool stays closed and every allocate
  // gives nullptr.
  bool open(const PoolOptions& options) noexcept;
  bool open_over(void* memory, size_t bytes,
                 PinToken pin) noexcept;  // memory for the rest of the process

  bool owns(const void* p) const noexcept { return arena_.owns(p); }
  bool is_adopted() const noexcept { return arena_.adopted(); }  // of the driver: as fast as it gets
  bool is_shared() const noexcept { return arena_.shared(); }
  // Where a live block's span lies in a shared pool's file. Not shared, or the file is closed: -1.
  int file_of(const Extent& extent, size_t* offset) const noexcept {
    *offset = static_cast<size_t>(extent.base - arena_.base());
    return arena_.file();
  }

  // `align`: 0 or a power of two. `*fresh`, if given: the memory was never used before, and is zero;
  // its page faults are to come.
  void* allocate(size_t size, size_t align, SiteIndex site, bool* fresh = nullptr) noexcept;
  void release(void* p) noexcept;  // REQUIRES: owns(p)
  // True: time to trim(), for one in 256 MiB.
  bool worked(size_t bytes) noexcept {
    const uint64_t before = work_.fetch_add(bytes, std::memory_order_relaxed);
    return (before ^ (before + bytes)) >> 28 != 0;
  }
  // Gives back what should not be kept; of idle spans one. Where the pool changes it does so itself.
  void trim() noexcept;
  // Memory that was never touched comes from this node if it can (numa.h). False: refused, or not ours to place.
  bool prefer_node(int node) noexcept;
  Returned take_returned() noexcept;  // since the last call
  size_t usable_size(
      const void* p) const noexcept;  // REQUIRES: owns(p). 0: not a live block's start
  Extent extent_of(
      const void* p) const noexcept;  // REQUIRES: owns(p). bytes 0: no live block there
  // --- What the program does to pages by itself; answers as the system would of libc's memory. REQUIRES: owns() ---
  // First: sets the spans there aside. `let_go` is told of each with the pin that it had, without the lock; true:
  // nobody else maps it any more.
  void set_aside(const void* at, size_t bytes, bool (*let_go)(const Extent& extent)) noexcept;
  int advise(void* at, size_t bytes, int advice) noexcept;
  int protect(void* at, size_t bytes, int protection, int key) noexcept;
  int unmap(void* at, size_t bytes) noexcept;
  void* remap(void* at, size_t bytes, size_t new_bytes, int flags, void* to) noexcept;
  void replaced(const void* at, size_t bytes) noexcept;  // another mapping of the program's is there now

  // Remembers the pin of the span that starts at `base`. False: that span is no more, or has
  // another pin.
  bool set_pin(const Extent& extent, PinToken pin) noexcept;

  void lock_for_fork() noexcept GT_ACQUIRE(mutex_);
  void unlock_after_fork() noexcept GT_RELEASE(mutex_);

  size_t live_bytes() const noexcept;
  size_t cached_bytes() const noexcept;
  uint64_t bad_releases() const noexcept { return bad_releases_.load(std::memory_order_relaxed); }
  bool lock_refused() const noexcept { return lock_refused_.load(std::memory_order_relaxed); }
  // Checks the invariants, without the lock; slow, for tests.
  bool is_valid() const noexcept GT_NO_THREAD_SAFETY_ANALYSIS;

 private:
  struct Span;
  class Guard;
  using SpanId = uint32_t;
  using PageId = uint32_t;
  static constexpr size_t Classes = 44;
  static constexpr size_t Buckets = 33;

  bool make_tables() noexcept;
  Span& span(SpanId id) const noexcept;
  char* address(const Span& s) const noexcept;
  SpanId span_at(const void* p) const noexcept GT_REQUIRES(mutex_);  // 0: no span in use there
  SpanId new_span(PageId page, PageId pages) noexcept GT_REQUIRES(mutex_);
  void drop_span(SpanId id) noexcept GT_REQUIRES(mutex_);
  void map_ends(SpanId id) noexcept GT_REQUIRES(mutex_);
  void map_all(SpanId id) noexcept GT_REQUIRES(mutex_);

  void list_free(SpanId id) noexcept GT_REQUIRES(mutex_);
  void unlist_free(SpanId id) noexcept GT_REQUIRES(mutex_);
  bool fits(const Span& s, PageId pages, PageId align) const noexcept GT_REQUIRES(mutex_);
  SpanId find_free(PageId pages, PageId align) noexcept GT_REQUIRES(mutex_);
  SpanId carve(SpanId id, PageId pages, PageId align) noexcept GT_REQUIRES(mutex_);
  void cut_tail(SpanId id, PageId pages) noexcept GT_REQUIRES(mutex_);
  bool may_grow(PageId pages, PageId align) const noexcept GT_REQUIRES(mutex_);
  SpanId grow_top(PageId pages, PageId align) noexcept GT_REQUIRES(mutex_);
  SpanId absorb(SpanId left, SpanId right) noexcept GT_REQUIRES(mutex_);
  SpanId merge_neighbours(SpanId id, bool any) noexcept GT_REQUIRES(mutex_);
  void merge_everything() noexcept GT_REQUIRES(mutex_);
  SpanId take_span(PageId pages, PageId align, SiteIndex site) noexcept GT_REQUIRES(mutex_);
  void give_span(SpanId id) noexcept GT_REQUIRES(mutex_);
  enum class Trim { Largest, Idle, Aside };
  size_t trim_one(Trim what) noexcept GT_EXCLUDES(mutex_);
  SpanId trim_victim(Trim what) noexcept GT_REQUIRES(mutex_);
  bool may_be_idle() const noexcept GT_REQUIRES(mutex_) { return work_.load(std::memory_order_relaxed) >= idle_at_; }
  uint64_t idle_at(const Span& s) const noexcept;
  bool give_back(const Span& s) noexcept;
  void* move_away(char* at, size_t bytes, size_t new_bytes, int flags, void* to) noexcept GT_REQUIRES(mutex_);
  void leave_nothing(void* at, size_t bytes) noexcept;

  void* allocate_locked(size_t size, size_t align, SiteIndex site, bool* fresh) noexcept GT_REQUIRES(mutex_);
  void* allocate_large(size_t size, size_t align, SiteIndex site, bool* fresh) noexcept GT_REQUIRES(mutex_);
  void* allocate_small(size_t size_class, SiteIndex site) noexcept GT_REQUIRES(mutex_);
  SpanId new_slab(size_t size_class, SiteIndex site) noexcept GT_REQUIRES(mutex_);
  void list_partial(SpanId id) noexcept GT_REQUIRES(mutex_);
  void unlist_partial(SpanId id) noexcept GT_REQUIRES(mutex_);
  void release_locked(void* p) noexcept GT_REQUIRES(mutex_);
  bool release_small(SpanId id, size_t offset) noexcept GT_REQUIRES(mutex_);
  void defer(void* p) noexcept;
  void drain_deferred() noexcept GT_REQUIRES(mutex_);

  Arena arena_;
  PoolOptions options_{};
  mutable Mutex mutex_;
  // Both with the mutex, but for their addresses, which open() sets.
  Span* spans_ = nullptr;        // [0] is unused: id 0 is "none"
  SpanId* page_span_ = nullptr;  // by page
  SpanId span_count_ GT_GUARDED_BY(mutex_) = 0, spare_span_ GT_GUARDED_BY(mutex_) = 0;
  PageId top_ GT_GUARDED_BY(mutex_) = 0;  // pages below were handed out at least once
  PageId pages_ = 0;
  size_t live_ GT_GUARDED_BY(mutex_) = 0, cached_ GT_GUARDED_BY(mutex_) = 0;  // bytes
  std::atomic<uint64_t> work_{0};           // bytes
  uint64_t idle_at_ GT_GUARDED_BY(mutex_) = UINT64_MAX;  // work_ before which no free span is idle
  size_t free_aside_ GT_GUARDED_BY(mutex_) = 0;  // free spans that are set aside
  bool grew_ GT_GUARDED_BY(mutex_) = false;  // memory that held nothing was handed out since the last trim()
  std::atomic<size_t> returned_excess_{0}, returned_short_{0}, returned_idle_{0};
  SpanId free_[Buckets] GT_GUARDED_BY(mutex_) = {};  // free spans by log2(pages)
  SpanId partial_[MaxPoolSites][Classes] GT_GUARDED_BY(mutex_) = {};  // slabs with a free block
  PinToken first_pin_ = 0;                  // the pin of adopted memory
  std::atomic<void*> deferred_{
      nullptr};  // frees made by signal handlers, linked through the blocks
  std::atomic<uint64_t> bad_releases_{0};
  std::atomic<bool> lock_refused_{false};
};

}  // namespace gt::opt
