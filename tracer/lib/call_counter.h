// Counts memory calls of small blocks instead of recording them (gtrace run --no-memory-detail).
//
// Whether a block is small its allocator says, by what it can hold: the same at both ends of its life, so nothing is
// remembered of a block. A block that can hold `listed_from()` bytes is recorded as ever. Where the allocator has no
// malloc_usable_size of its own (sizes_are_known), all calls of the process are recorded.
// Cost: a look-up of one row and two additions; malloc_usable_size where a block is given back, and where it is made
// with an alignment or for more than half of the limit.
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

// The rare way: a thread that has no table yet, or a row that is not where it is looked for first.
bool count_slowly(uint64_t key, uint64_t bytes);

// A call that asks for so many bytes, and has this key (count_key). False: the thread cannot count.
inline bool count_call(uint64_t key, uint64_t bytes) {
  CallCounts* const counts = t_counts;
  if (__builtin_expect(!counts, 0)) return count_slowly(key, bytes);
  CallCount& row = counts->rows[first_row(key)];
  if (__builtin_expect(row.key.load(std::memory_order_relaxed) != key, 0)) return count_slowly(key, bytes);
  row.add(bytes);
  return true;
}

// A call that makes a small block.
__attribute__((noinline)) inline bool counts_small(uint16_t fn, uint64_t site, uint64_t bytes) {
  return count_call(count_key(fn, site, size_class(bytes)), bytes);
}
// A call that makes a block, and what came of it: is it counted? REQUIRES: listed_from() != 0.
__attribute__((noinline)) inline bool counts_made(uint16_t fn, uint64_t site, uint64_t made, uint64_t bytes) {
  const uint64_t holds = made ? block_holds(reinterpret_cast<const void*>(made)) : bytes;
  return holds < listed_from() && counts_small(fn, site, bytes);
}
// The same of a call about a block that it does not make.
__attribute__((noinline)) inline bool counts_given(uint16_t fn, uint64_t site, const void* block) {
  const uint64_t key = count_key(fn, site, 0);
  return !(block && block_holds(block) >= listed_from()) && count_call(key, 0);
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
