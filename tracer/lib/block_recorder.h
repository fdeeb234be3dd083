// Writes block words: how the thread records the memory calls that programs make most (block_words.h).
//
// Cost: some stores and one comparison for each of: form, base, clock, room.
// Thread safety: a thread's own ring; a signal handler in between finds it busy, as with records.
#pragma once

#include <cstring>
#include <utility>

#include "tracer/lib/memory_ticks.h"

namespace gt::tracer {

// The slot of a form that is not in its first one, where another may be. It is given one now if it has none, in the
// place of a form that is forgotten. BlockFormCount: that could not be recorded.
uint32_t find_form(Ring& ring, uint64_t form);

// The calls that were seen last come again: from here on they are counted, if there is room for that.
void begin_repeat(Ring& ring);

// Is the call the next one of those that repeat? Then it is counted, and that is all.
inline bool count_repeat(Ring& ring, uint64_t word, uint64_t base) {
  auto& repeat = ring.repeat;
  if (repeat.period == 0) return false;
  const bool goes_on = repeat.words[repeat.next] == word && base == ring.header->base &&
                       repeat.position == ring.position && is_alone(*detail::g_spool, ring);
  if (__builtin_expect(!goes_on, 0)) {
    repeat.period = 0;
    ring.clock.left = 0;
    ring.header->repeats.forget();
    return false;
  }
  if (++repeat.next == repeat.period) repeat.next = 0;
  repeat.calls->store(repeat.calls->load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return true;
}

// A call of `fn` from `site` that made the block at `address`, or is about to give it back. False: it takes a record to
// tell it.
inline bool record_block(BlockTag tag, api::AllocFn fn, uint64_t site, uint64_t address, uint64_t bytes = 0) {
  constexpr uint64_t MostBytes = 3 * 8;
  Ring* const ring = this_ring();
  if (__builtin_expect(!ring || !fits_block_word(address, bytes), 0)) return false;
  const uint64_t form = block_form(fn, site), base = base_of(address);
  uint32_t slot = form_slot(form);
  if (__builtin_expect(ring->header->forms[slot] != form, 0)) {
    slot = find_form(*ring, form);
    if (slot == BlockFormCount) return false;
  }
  const uint64_t word = block_word(tag, slot, address, bytes);
  if (__builtin_expect(ring->busy, 0)) return false;
  if (count_repeat(*ring, word, base)) return true;
  fetch_ahead(*ring);
  ring->busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler sees busy before we read position
  RingHeader& header = *ring->header;
  uint64_t position = ring->position;
  if (__builtin_expect(position + MostBytes > ring->limit, 0) && !wait_for_space(*ring, MostBytes)) {
    ring->busy = false;
    return false;
  }
  uint8_t* const data = ring->data;  // what was written may be anything, as far as the compiler knows: it reads once
  const uint64_t mask = ring->mask;
  const auto put = [&](uint64_t next) {
    std::memcpy(data + (position & mask), &next, sizeof next);
    position += sizeof next;
  };
  if (__builtin_expect(!counts_on(*ring), 0)) put(ticks_word(read_clock(*ring)));
  if (__builtin_expect(base != header.base, 0)) {
    put(base_word(base, std::exchange(header.base, base)));
    header.repeats.forget();
  }
  put(word);
  ring->position = ring->clock.position = position;
  commit(*ring, 0);
  if (__builtin_expect(header.repeats.see(word), 0)) begin_repeat(*ring);
  return true;
}

}  // namespace gt::tracer
