// Counts memory calls of small blocks instead of recording them (gtrace run --no-memory-detail).
//
// Whether a block is small its allocator says, by what it can hold: the same at both ends of its life, so nothing is
// remembered of a block. A block that can hold `listed_from()` bytes is recorded as ever. Where the allocator has no
// malloc_usable_size of its own (sizes_are_known), all calls of the process are recorded.
// Cost: of a call, two calls of malloc_usable_size for a block's life, a look-up of one row and two additions.
// Thread safety: a thread's own table.
#pragma once

#include <cstring>

#include "tracer/interpose/boot_arena.h"
#include "tracer/interpose/libc_alloc.h"
#include "tracer/lib/count_tables.h"
#include "tracer/lib/recorder.h"

namespace gt::tracer {

namespace detail {
extern uint64_t g_listed_from;  // 0: all calls are recorded
}

// Once libc's functions are known, and those of the program's own allocator. REQUIRES: the process has one thread.
void begin_counting();

inline uint64_t listed_from() { return detail::g_listed_from; }

// What the block can hold, as its allocator says. REQUIRES: p is a block, not NULL.
inline size_t block_holds(const void* p) {
  if (__builtin_expect(interpose::boot_owns(p), 0)) return interpose::boot_size(p);
  return interpose::libc.usable_size(const_cast<void*>(p));
}

// The row of a key that is not where it is looked for first.
CallCount& find_count(CallCounts& counts, uint64_t key);

// The row of a call, which has been counted there; nullptr: the thread has no table.
inline CallCount* count_call(uint16_t fn, uint64_t site, unsigned size_class) {
  if (__builtin_expect(!t_counts && !this_ring(), 0)) return nullptr;
  CallCounts* const counts = t_counts;
  if (__builtin_expect(!counts, 0)) return nullptr;
  const uint64_t key = count_key(fn, site, size_class);
  CallCount* row = &counts->rows[first_row(key)];
  if (__builtin_expect(row->key.load(std::memory_order_relaxed) != key, 0)) row = &find_count(*counts, key);
  row->calls.store(row->calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return row;
}

// A call that makes a small block. False: the thread cannot count.
__attribute__((noinline)) inline bool counts_small(uint16_t fn, uint64_t site, uint64_t bytes) {
  CallCount* const row = count_call(fn, site, size_class(bytes));
  if (row) row->bytes.store(row->bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  return row != nullptr;
}
// A call that makes a block, and what came of it: is it counted? REQUIRES: listed_from() != 0.
__attribute__((noinline)) inline bool counts_made(uint16_t fn, uint64_t site, uint64_t made, uint64_t bytes) {
  const uint64_t least = listed_from();
  const uint64_t holds = made ? block_holds(reinterpret_cast<const void*>(made)) : bytes;
  if (holds >= least) return false;
  return counts_small(fn, site, bytes);
}
// The same of a call about a block that it does not make.
__attribute__((noinline)) inline bool counts_given(uint16_t fn, uint64_t site, const void* block) {
  const uint64_t least = listed_from();
  if (block && block_holds(block) >= least) return false;
  return count_call(fn, site, 0) != nullptr;
}

// realloc, whose block may be small on one side only: then the call is recorded. What it makes is seen afterwards, so
// a call that seems to be of small blocks is held back until then.
class ResizedBlock {
 public:
  static constexpr size_t MostWords = 3;
  // Before the call, with its parameters. True: it is not to be recorded yet.
  template <size_t N>
  bool holds_back(const void* old, uint64_t bytes, const uint64_t (&words)[N]) {
    static_assert(N <= MostWords);
    const uint64_t least = listed_from();
    state_ = least == 0 ? State::None : State::Listed;
    if (least == 0 || bytes >= least || (old && block_holds(old) >= least)) return false;
    std::memcpy(words_, words, sizeof words);
    state_ = State::HeldBack;
    return true;
  }
  bool held_back() const { return state_ == State::HeldBack; }
  const uint64_t* words() const { return words_; }  // the parameters of the last one that was
  // Afterwards. Of a call that was held back: is it counted? Else it is to be recorded now.
  bool is_counted(uint16_t fn, uint64_t site, const void* made, uint64_t bytes) {
    state_ = State::None;
    return counts_made(fn, site, reinterpret_cast<uint64_t>(made), bytes);
  }
  // Of a call that was recorded: the block that it made is small, and will not be heard of again.
  bool leaves_list(const void* made) {
    const bool listed = state_ == State::Listed;
    state_ = State::None;
    return listed && made && block_holds(made) < listed_from();
  }

 private:
  enum class State : uint8_t { None, Listed, HeldBack };
  State state_ = State::None;
  uint64_t words_[MostWords] = {};
};
extern __thread ResizedBlock t_resized __attribute__((tls_model("initial-exec")));

}  // namespace gt::tracer
