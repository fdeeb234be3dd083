// Huge pages for the C library's heap, where small blocks live. It grows at the program break, 132 KiB at a time, and a
// huge page comes only where 2 MiB are mapped before any of it is touched: so a program of many small blocks pays for
// every page of 4 KiB. Here the break is moved further than was asked, and what lies behind the program's own end of
// it, its room, is handed out later:
//
//   heap ... | probe | step, advised  |          a probe: 2 MiB of ordinary pages
//            end of the program's break           mapped end
//            (moves on, no call of the system)
//
// When the room is used up, the probe in front of it has been handed out for long. If it was touched nearly everywhere,
// its step was, too, and the next one is twice as large; if not, there is only another probe. Steps that nothing
// vouches for are part of the budget that blocks have (huge_pages.h).
//
// The program sees a break that moves as it asks: sbrk(0) tells its end, not the mapping's. Whoever moves the real one
// past us is noticed, and ours is then where that one is. No room, only exact moves: for callers other than the C
// library's allocator (others give pages back by themselves), and while a limit of the process counts mappings.
// Not seen: what malloc_trim() gives back inside the heap; whoever touches little of that afterwards gets huge pages.
// Thread safety: all functions, but open(). Allocates nothing; zero-initialized.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "optimizer-rt/pool/huge_pages.h"
#include "traces/base/mutex.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

class HeapRoom {
 public:
  // libc's sbrk and brk.
  struct Break {
    void* (*move)(intptr_t by) = nullptr;
    int (*set)(void* to) = nullptr;
  };
  static constexpr size_t FirstStep = 3 * HugePages::HugeBytes;
  static constexpr size_t LargestStep = HugePages::Budget / 4;

  constexpr HeapRoom() = default;

  // `pages` outlives this. REQUIRES: nobody else is there yet.
  void open(const Break& system, HugePages* pages) noexcept;
  // No advice from now on, and ordinary pages for what has none yet. The room stays: it is part of the break.
  void close() noexcept { withdraw(0, UINTPTR_MAX, true); }
  bool is_open() const noexcept { return pages_ != nullptr; }
  // The program gives advice or pages there, or gives them back.
  void looked_after(const void* at, size_t bytes) noexcept {
    if (__builtin_expect(advised_.load(std::memory_order_relaxed), 0))
      withdraw(reinterpret_cast<uintptr_t>(at), bytes, false);
  }

  // In place of sbrk and brk. `allocator`: the caller is the C library.
  void* move(intptr_t by, bool allocator) noexcept;
  int set(void* to) noexcept;

  void forget_in_child() noexcept;  // its locks: the break stays as it is

 private:
  size_t room() const noexcept GT_REQUIRES(mutex_) { return mapped_ - end_; }
  void adopt(uintptr_t end) noexcept GT_REQUIRES(mutex_);  // the real break is there, and there is no room
  bool grow(size_t need, bool allocator) noexcept GT_REQUIRES(mutex_);
  bool grow_with_room(size_t need) noexcept GT_REQUIRES(mutex_);
  void judge_probe() noexcept GT_REQUIRES(mutex_);
  void* shrink(size_t bytes) noexcept GT_REQUIRES(mutex_);
  void withdraw(uintptr_t at, size_t bytes, bool for_ever) noexcept;

  Break system_;
  HugePages* pages_ = nullptr;        // nullptr: closed, and calls go on to the system
  std::atomic<bool> advised_{false};  // some of the heap was
  Mutex mutex_;
  bool gives_room_ GT_GUARDED_BY(mutex_) = false;
  uintptr_t begin_ GT_GUARDED_BY(mutex_) = 0;   // of what may be advised
  uintptr_t end_ GT_GUARDED_BY(mutex_) = 0;     // the program's
  uintptr_t mapped_ GT_GUARDED_BY(mutex_) = 0;  // the real one
  uintptr_t probe_ GT_GUARDED_BY(mutex_) = 0;   // 0: none
  size_t lent_ GT_GUARDED_BY(mutex_) = 0;       // of the step behind it
  size_t step_ GT_GUARDED_BY(mutex_) = 0;       // how much the next one may be
};

extern HeapRoom heap_room;

}  // namespace gt::opt

#pragma GCC visibility pop
