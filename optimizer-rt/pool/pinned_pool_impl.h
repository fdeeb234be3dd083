// The span record of the pool; private to pinned_pool*.cc.
#pragma once

#include "optimizer-rt/pool/pinned_pool.h"

namespace gt::opt {

// The thread is inside a pool: a signal handler that allocates must not wait for its own thread.
extern __thread bool t_inside_pool __attribute__((tls_model("initial-exec")));

constexpr size_t PageBytes = size_t{64} << 10;
constexpr uint32_t HugePages = HugePage / PageBytes;  // pool pages in one huge page
constexpr size_t RoundingPages = 256;  // from 16 MiB up, sizes are whole huge pages (12 % at most)
constexpr size_t LargestSmall = size_t{256} << 10;
constexpr uint64_t IdleFactor = 256;
constexpr size_t LeastIdleSize = size_t{16} << 20;  // giving back and getting costs a few calls at least
constexpr size_t LargestSlabBlocks = 1024;

// Invariant: kind Free <=> on a free list, save for the one being trimmed (kind Trimming, on no
// list).
struct PinnedPool::Span {
  enum Kind : uint8_t { Unused, Free, Large, Slab, Trimming };
  PageId page = 0, pages = 0;
  SpanId next = 0, prev = 0;  // free list, or list of partial slabs
  PinToken pin = 0;
  uint64_t freed_at = 0;  // work_
  SiteIndex site = 0;
  Kind kind = Unused;
  uint8_t size_class = 0;
  bool dirty = false;   // may hold something else than zeros
  bool lost_pin = false;  // the driver may hold pins here that the pool forgot: never given back to the system
  bool aside = false;   // the program changes its pages by itself; free: to be renewed, and not given out before
  bool hidden = false;  // of one that is set aside: nobody else maps it
  bool mapped = false;  // every page, not only the ends, maps to this span
  uint16_t blocks = 0, free_blocks = 0;
  uint64_t used[LargestSlabBlocks / 64];  // Slab: one bit a block

  bool is_like(const Span& o) const noexcept {
    return pin == o.pin && dirty == o.dirty && lost_pin == o.lost_pin && aside == o.aside;
  }
  void inherit(const Span& o) noexcept {  // of a part of `o`
    pin = o.pin;
    dirty = o.dirty;
    lost_pin = o.lost_pin;
    aside = o.aside;
    hidden = o.hidden;
    freed_at = o.freed_at;
  }
};

// Inside the pool there is nothing to take: this thread has the mutex. The analysis is told that it is taken.
class GT_SCOPED_CAPABILITY PinnedPool::Guard {
 public:
  explicit Guard(Mutex& mutex) GT_ACQUIRE(mutex) GT_NO_THREAD_SAFETY_ANALYSIS
      : mutex_(t_inside_pool ? nullptr : &mutex) {
    if (!mutex_) return;
    t_inside_pool = true;
    mutex_->lock();
  }
  ~Guard() GT_RELEASE() GT_NO_THREAD_SAFETY_ANALYSIS {
    if (!mutex_) return;
    mutex_->unlock();
    t_inside_pool = false;
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  bool held() const { return mutex_ != nullptr; }

 private:
  Mutex* mutex_;
};

inline PinnedPool::Span& PinnedPool::span(SpanId id) const noexcept { return spans_[id]; }
inline char* PinnedPool::address(const Span& s) const noexcept {
  return arena_.base() + s.page * PageBytes;
}

}  // namespace gt::opt
