// Huge pages for the program's large blocks. The first touch of fresh memory costs a fault for each page: some 1.6 us
// for 4 KiB, so that a result is read into it at 2 GB/s, whatever the link does. With pages of 2 MiB it is four to ten
// times as fast, and the program needs no profile for that.
//
// But a huge page takes memory that the program may never touch. So what a transfer is about to fill gets them at once,
// and a block that somebody else fills is trusted step by step:
//
//   | probe | step       | probe | step                       | probe | ...     a probe: 2 MiB of ordinary pages
//            advised at                advised when the first
//            the allocation            probe was touched nearly everywhere
//
// Invariant: steps that the next probe does not show to be filled are at most `budget` bytes in all blocks together:
// what a program may grow by that touches little of what it allocates, as far as probes tell. Whole pages only: what
// lies before the first and after the last is left alone.
// Only blocks of the C library's are treated so: advice to a part of a mapping makes several mappings of it, which
// mremap() refuses to move. realloc() then copies, once; so what it gave is left alone.
// Memory that is no block of the program's any more, or that the program looks after by itself, gets ordinary pages
// again: allocators keep freed memory, give its pages to the system and hand it out anew, and who touches little of it
// then would get all of it. Not where GLIBC_TUNABLES asks for huge pages: those are the user's wish.
// A block is given back only when nobody looks at it. What a signal handler does on a thread that is in here is missed,
// and then everything is forgotten.
// Thread safety: all functions, but open(). Allocates nothing; zero-initialized: hooks come before constructors.
// Cost: one comparison for allocations below LeastBytes; one load for each release; for a block of LeastBytes
// and more some microseconds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "optimizer-rt/pool/counters.h"
#include "traces/base/mutex.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

class HugePages {
 public:
  static constexpr size_t HugeBytes = size_t{2} << 20;
  static constexpr size_t LeastBytes = 4 * HugeBytes;   // of a block
  static constexpr size_t LeastFilled = 2 * HugeBytes;  // of a transfer
  static constexpr size_t Budget = size_t{64} << 20;

  enum class Seen { Nothing, NoChange, Progress };  // Nothing: no block is watched

  constexpr HugePages() = default;

  struct Counts {
    Counter *blocks, *bytes, *filled;  // that got advice; bytes of these that were filled, as far as can be told
  };
  // The counters outlive this. `keeps`: what was advised stays so. REQUIRES: nobody else is there yet.
  void open(size_t budget, const Counts& counts, bool keeps = false) noexcept;
  // The program handles faults by itself: it is to see each. No advice from now on.
  void close() noexcept;
  bool is_open() const noexcept { return range_.load(std::memory_order_relaxed) != 0; }
  bool keeps() const noexcept { return keeps_; }
  bool wants(size_t bytes) const noexcept {
    return __builtin_expect(bytes - LeastBytes < range_.load(std::memory_order_relaxed), 0);
  }

  // The C library gave this block. True: it is watched from now on, so look() should be called.
  bool made(const void* block, size_t bytes) noexcept;
  // The same with its pages, which is not watched. 0: nobody knows the block.
  void remember(const void* block, size_t bytes) noexcept;
  size_t bytes_of(const void* block) noexcept;
  // Bytes that are in memory and would not be without us count as those that were not vouched for. False: too many.
  bool lend(size_t bytes) noexcept;
  void repay(size_t bytes) noexcept;
  // The same of pages that are no block's, which get advice. Later vouched() for, or repaid.
  bool lend_at(uintptr_t at, size_t bytes) noexcept;
  void vouched(size_t bytes) noexcept;
  bool is_short() noexcept;  // of budget for another block
  // All of it is about to be written: advised as far as it lies in a block that is known and has no pages yet.
  void filled(const void* at, size_t bytes) noexcept;
  bool may_know(const void* p) const noexcept {
    return __builtin_expect((filter_.load(std::memory_order_relaxed) & bit_of(p)) != 0, 0);
  }
  void gone(const void* block) noexcept;  // it is given back
  // Other memory is there now.
  void changed(const void* at, size_t bytes) noexcept {
    if (__builtin_expect(filter_.load(std::memory_order_relaxed) != 0, 0)) drop_overlapping(at, bytes, Pages::Others);
  }
  // The program is about to give advice or pages there, or gives them back.
  void looked_after(const void* at, size_t bytes) noexcept {
    if (__builtin_expect(filter_.load(std::memory_order_relaxed) != 0, 0)) drop_overlapping(at, bytes, Pages::Stay);
  }
  // What was touched meanwhile? Advises what that vouches for.
  Seen look() noexcept;
  // Watches nothing any more. What was advised and not vouched for counts against the budget for ever.
  void give_up() noexcept;
  void forget_in_child() noexcept;

 private:
  class Guard;
  enum class Pages { Stay, Others };  // of a block that is dropped: from now on ordinary ones; not its own any more
  static constexpr size_t Most = 64;
  struct Block {
    const void* base = nullptr;  // nullptr: a free place
    size_t bytes = 0;
    uintptr_t probe = 0;  // [probe, probe + HugeBytes) is looked at; 0: it is not watched (any more)
    uintptr_t ahead = 0;  // what was advised ends here
    uintptr_t end = 0;    // of its last huge page
    size_t filling = 0;   // of the step before the probe: vouched for, perhaps not touched yet
    size_t step = 0;      // how much the next one may be

    size_t unvouched() const noexcept { return probe == 0 ? 0 : ahead - probe - HugeBytes; }
  };

  static uint64_t bit_of(const void* p) noexcept {
    return uint64_t{1} << ((reinterpret_cast<uintptr_t>(p) >> 12) * 0x9e3779b97f4a7c15u >> 58);
  }
  bool advise(uintptr_t at, size_t bytes) noexcept GT_REQUIRES(mutex_);
  Block* place_of(const void* block) noexcept GT_REQUIRES(mutex_);  // a free one, or that which is to be overwritten
  void begin_watching(Block& b, uintptr_t begin) noexcept GT_REQUIRES(mutex_);
  void take_step(Block& b) noexcept GT_REQUIRES(mutex_);
  bool vouch(Block& b) noexcept GT_REQUIRES(mutex_);
  void count_filled(Block& b) noexcept GT_REQUIRES(mutex_);
  void end_watching(Block& b) noexcept GT_REQUIRES(mutex_);  // all of it is filled, or will be
  void drop(Block& b, Pages pages) noexcept GT_REQUIRES(mutex_);
  void drop_overlapping(const void* at, size_t bytes, Pages pages) noexcept;
  void set_filter() noexcept GT_REQUIRES(mutex_);
  void forget_all() noexcept GT_REQUIRES(mutex_);

  Mutex mutex_;
  std::atomic<size_t> range_{0};     // above LeastBytes; 0: closed
  std::atomic<uint64_t> filter_{0};  // bit_of() each block that is known
  std::atomic<bool> missed_{false};
  Counts counts_ = {};
  bool keeps_ = false;
  size_t budget_ GT_GUARDED_BY(mutex_) = 0;  // what is left of it
  Block known_[Most] GT_GUARDED_BY(mutex_) = {};
};

extern HugePages huge_pages;
// Called when a block is watched, or kept (kept_blocks.h): see to it that look() is called, and what is old given back.
// False: nobody will. Set by a constructor of the OpenCL half.
extern bool (*watch_hook)() noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
