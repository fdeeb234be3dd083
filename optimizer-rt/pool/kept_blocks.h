// Large blocks that a program frees and allocates again, in a loop. The C library gives such memory to the system and
// gets fresh memory for the next round, whose pages must be made anew: with 64 MiB that is most of the round, with huge
// pages, too. So a block whose size has come again in time, several times, is not given to the C library when it is
// freed. The next allocation of that size gets it, with its pages; its contents are what they were, as malloc may.
//
// Invariants: what is kept is a live block of the C library's, which is given back to it `Patience_ns` after it was
// freed, before a fork, and when its bytes are needed. It is all in memory: who frees a block of which much was never
// touched has nothing to keep. All of it is lent from the budget of HugePages: together the program grows by no more.
// Nothing is kept where the process has a limit of its own (RLIMIT_AS, RLIMIT_DATA), or where the system promises no
// memory that it has not got: an allocation might fail for that.
// Thread safety: all functions but open(). Who comes while another is in here, or in a signal handler on its thread,
// goes on as if nothing was kept. Allocates nothing; zero-initialized.
// Cost: of a large block, a question for the time; one that is kept, a look at its pages, some 10 us.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "optimizer-rt/pool/counters.h"
#include "traces/base/mutex.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

class HugePages;

class KeptBlocks {
 public:
  static constexpr uint64_t Patience_ns = 200'000'000;  // between a free and the next allocation
  static constexpr unsigned Rounds = 2;                 // of fresh blocks that came in time, before one is kept
  static constexpr uint64_t Always = UINT64_MAX;

  constexpr KeptBlocks() = default;

  // `release`: gives a block to the C library. Counts the blocks that came with their pages. REQUIRES: nobody else is
  // there yet; `pages` has a budget.
  void open(HugePages* pages, void (*release)(void*), Counter* blocks, Counter* bytes) noexcept;
  bool any() const noexcept { return count_.load() != 0; }

  // The C library has made a block of that size, with fresh pages.
  void made(size_t bytes, uint64_t now_ns) noexcept;
  // The program frees such a block. True: it comes again and again.
  bool freed(size_t bytes, uint64_t now_ns) noexcept;
  // In place of free(). False: it is not kept. REQUIRES: a live block of at least that size, which freed() is true for.
  bool keep(void* block, size_t bytes, uint64_t now_ns) noexcept;
  // A block of exactly that size, or nullptr. `align`: 0 or a power of two.
  void* take(size_t bytes, size_t align) noexcept;
  // To the C library: what was kept for too long. Always: all.
  void give_back(uint64_t now_ns) noexcept;
  void forget_in_child() noexcept;  // what is kept stays where it is

 private:
  struct Loop {  // the rounds of one size
    size_t bytes = 0;
    uint64_t freed_ns = 0;
    unsigned rounds = 0;
  };
  struct Kept {
    void* block = nullptr;
    size_t bytes = 0;
    uint64_t since_ns = 0;
  };
  static constexpr size_t Sizes = 8, Most = 8;

  Loop* loop_of(size_t bytes) noexcept GT_REQUIRES(mutex_);
  size_t remove_old(uint64_t now_ns, Kept* removed) noexcept GT_REQUIRES(mutex_);

  Mutex mutex_;
  std::atomic<size_t> count_{0};
  HugePages* pages_ = nullptr;
  void (*release_)(void*) = nullptr;
  Counter *blocks_ = nullptr, *bytes_ = nullptr;
  Loop loops_[Sizes] GT_GUARDED_BY(mutex_) = {};
  Kept kept_[Most] GT_GUARDED_BY(mutex_) = {};
};

extern KeptBlocks kept_blocks;

}  // namespace gt::opt

#pragma GCC visibility pop
