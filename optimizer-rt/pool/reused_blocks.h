// The large blocks that libc gave the program, the parts of its static data that it transfers, and which of them are
// pinned: memory of no planned site that is transferred so often that pinning it in place pays.
//
// A pin must never outlive its memory: the driver would go on moving the pages that the addresses once had. So a block
// is known from the call that gave it out until the call that takes it back, whoever makes that, and what is dropped
// while it is pinned is "unsettled" until the pin is really gone. Whoever is about to hand addresses to the driver
// settles first: new memory at old addresses has always been freed before. (A release by the program settles at once; a
// release inside the driver, whose functions it must not call then, leaves that to the next call.)
// What the table does not see makes it wrong: memory that overlaps a known block proves that one stale, and a library
// that is bound to libc past us (RTLD_DEEPBIND), where libc itself could not be led to us, closes the table for good.
//
// Static data (static_data.h) has no sizes that we could see, so its blocks are the ranges that are transferred: one
// that leaves all known ones takes up those that it overlaps. What is pinned stays, because its transfers may be under
// way; pins may overlap.
//
// When to pin is a ski rental: what a pin would have saved so far is summed up for each block, and when the sum reaches
// the pin's cost, the block is pinned: at most twice what hindsight could do. Blocks of one size class that were freed
// before they repaid their pins raise the bar for the next; so a pin is repaid only when what it really took is, where
// that is more than the curve said.
//
// Invariants: a block that is pinned or being pinned lies inside one live allocation, or in static data that is still
// there; pins + stale pins <= Most. A full table remembers nothing more.
// Thread safety: all functions; no lock is held during a driver call. What a signal handler releases that interrupted
// the table on its own thread is missed, and then everything is dropped.
// Allocates nothing; zero-initialized: hooks come before constructors. Cost: one comparison for allocations below
// LeastBytes; for each release one load, and a cache line where a block that is known may begin.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "optimizer-rt/pool/plan.h"
#include "traces/base/mutex.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

class ReusedBlocks {
 public:
  static constexpr size_t LeastBytes = size_t{64} << 10;  // below, a transfer costs little and a pin as much as ever
  static constexpr size_t Most = 1024;

  enum class Next {
    Unknown,  // not a block of ours
    Leave,    // not pinned, and not worth it, or not yet
    Pin,      // now: the caller pins, then says pinned() or not_pinned()
    Pinned,
  };
  // What the transfer of a part of the block would have saved if it had been pinned, and what pinning costs.
  struct Terms {
    double saving_ns = 0;
    const SizeCosts* pin = nullptr;
    bool always = false;  // pin at the second transfer
  };
  struct Block {
    uintptr_t base = 0;
    size_t bytes = 0;
    PinToken pin = 0;
    uint64_t birth = 0;
  };

  constexpr ReusedBlocks() = default;

  void open() noexcept { range_.store(SIZE_MAX / 2, std::memory_order_relaxed); }
  bool is_open() const noexcept { return range_.load(std::memory_order_relaxed) != 0; }
  // Drops everything, remembers nothing any more. True: it was open.
  bool close() noexcept;

  bool is_large(size_t bytes) const noexcept {
    return __builtin_expect(bytes - LeastBytes < range_.load(std::memory_order_relaxed), 0);
  }
  void remember(const void* p, size_t bytes) noexcept;         // REQUIRES: is_large(bytes)
  void remember_static(const void* p, size_t bytes) noexcept;  // the same, of what is transferred
  bool may_know(const void* p) const noexcept {
    const auto& here = begins_[granule_of(reinterpret_cast<uintptr_t>(p))];
    return __builtin_expect(here.load(std::memory_order_relaxed) != 0, 0) && is_known(p);
  }
  // Before the memory goes back. True: a pin was dropped.
  bool leaving(const void* p) noexcept { return may_know(p) && drop(p); }
  // Other memory is at these addresses now, or about to be.
  void changed(const void* at, size_t bytes) noexcept {
    if (__builtin_expect(count_.load(std::memory_order_relaxed) != 0, 0)) drop_overlapping(at, bytes);
  }

  Next touch(const void* p, size_t span, const Terms& terms, Block* block) noexcept;
  // `owner`: with what the pin goes, too (a context). `took_ns`: to make the pin.
  void pinned(const Block& block, PinToken pin, const void* owner, uint64_t took_ns = 0) noexcept;
  void not_pinned(const Block& block, bool refused) noexcept;
  void owner_leaves(const void* owner) noexcept;
  // A pin that is no block's and must go, too: stale from now on.
  void retire(PinToken pin) noexcept;

  bool is_settled() const noexcept { return unsettled_.load(std::memory_order_acquire) == 0; }
  // Gives stale pins to `unpin` until none is left. Others may still be at theirs.
  template <class Unpin>
  void settle(Unpin unpin) noexcept {
    for (PinToken pin; take_stale(&pin); settled()) unpin(pin);
  }

  void lock_for_fork() noexcept GT_ACQUIRE(mutex_) { enter(); }
  void unlock_after_fork() noexcept GT_RELEASE(mutex_) { leave(); }
  void forget_in_child() noexcept GT_RELEASE(mutex_);  // REQUIRES: lock_for_fork() before the fork. Unlocks

 private:
  class Guard;
  static constexpr size_t Ways = 8;  // blocks whose addresses lead to the same cache line
  static constexpr size_t Sets = Most / Ways;
  static constexpr size_t Classes = 64;
  static constexpr unsigned HighestBar = 10;  // doublings

  enum class State : uint8_t { Fresh, Pinning, Pinned, Refused };
  struct Entry {
    size_t bytes = 0;
    uint64_t birth = 0;
    PinToken pin = 0;
    const void* owner = nullptr;
    double owed_ns = 0, cost_ns = 0;  // saved, if it had been pinned; since it is pinned
    uint32_t transfers = 0;
    State state = State::Fresh;
    bool is_static = false;
  };

  // Small blocks, of which programs free most, lie in few granules, and blocks of LeastBytes begin in others: one load
  // of a line that stays in the cache tells.
  static constexpr size_t Granules = 1024;
  static size_t granule_of(uintptr_t p) noexcept { return (p >> 16) * 0x9e3779b97f4a7c15u >> 54; }
  static_assert(Granules == size_t{1} << 10 && LeastBytes == size_t{1} << 16, "granule_of() takes 10 bits of the hash");

  static size_t first_of(uintptr_t p) noexcept { return (p >> 4) * 0x9e3779b97f4a7c15u >> 57 << 3; }
  static_assert(Sets == 128 && Ways == 8, "first_of() takes 7 bits of the hash");
  bool is_known(const void* p) const noexcept {
    const auto key = reinterpret_cast<uintptr_t>(p);
    const std::atomic<uintptr_t>* const set = keys_ + first_of(key);
    bool found = false;
    for (size_t i = 0; i < Ways; ++i) found |= set[i].load(std::memory_order_relaxed) == key;
    return found && p;
  }
  void enter() noexcept GT_ACQUIRE(mutex_);
  void leave() noexcept GT_RELEASE(mutex_);
  void missed() noexcept;
  void take_missed() noexcept GT_REQUIRES(mutex_);
  void insert(uintptr_t key, size_t bytes, bool is_static) noexcept GT_REQUIRES(mutex_);
  bool drop(const void* p) noexcept;
  void drop_overlapping(const void* at, size_t bytes) noexcept;
  void drop_overlapping_locked(uintptr_t at, size_t bytes) noexcept GT_REQUIRES(mutex_);
  void drop_entry(size_t i) noexcept GT_REQUIRES(mutex_);
  void unpin_entry(Entry& e) noexcept GT_REQUIRES(mutex_);
  void judge(const Entry& e) noexcept GT_REQUIRES(mutex_);
  template <class Visit>
  void for_each_entry(Visit visit) const noexcept GT_REQUIRES(mutex_);
  double price(const Entry& e, const Terms& terms) const noexcept;
  bool pays(Entry& e, const Terms& terms) noexcept GT_REQUIRES(mutex_);
  size_t find(uintptr_t p, size_t span) const noexcept GT_REQUIRES(mutex_);
  Entry* entry_of(const Block& block) noexcept GT_REQUIRES(mutex_);
  bool take_stale(PinToken* pin) noexcept;
  void settled() noexcept;

  Mutex mutex_;
  std::atomic<size_t> range_{0};  // above LeastBytes; 0: closed
  std::atomic<size_t> count_{0};
  std::atomic<uint32_t> unsettled_{0};  // pins of dropped blocks: stale, being made, being released; 1 for missed_
  std::atomic<bool> missed_{false};
  uint64_t births_ GT_GUARDED_BY(mutex_) = 0;
  size_t pins_ GT_GUARDED_BY(mutex_) = 0;  // being made, made, stale, being released
  size_t stale_count_ GT_GUARDED_BY(mutex_) = 0;
  uint64_t used_[Most / 64] GT_GUARDED_BY(mutex_) = {};  // a bit for each entry: for walks
  uint8_t bar_[Classes] GT_GUARDED_BY(mutex_) = {};
  alignas(64) std::atomic<uint16_t> begins_[Granules] = {};  // how many blocks begin there
  alignas(64) std::atomic<uintptr_t> keys_[Most] = {};
  Entry entries_[Most] GT_GUARDED_BY(mutex_) = {};
  PinToken stale_[Most] GT_GUARDED_BY(mutex_) = {};
};

extern ReusedBlocks reused_blocks;

// The driver is there: a release by the program may call it. Not yet, or no longer: the process ends.
extern std::atomic<bool> unpins_at_release;

}  // namespace gt::opt

#pragma GCC visibility pop
