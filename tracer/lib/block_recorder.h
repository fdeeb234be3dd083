// Writes block words: how the thread records the memory calls that programs make most (block_words.h).
//
// Cost: some stores and one comparison for each of: form, base, clock, room.
// Thread safety: a thread's own ring; a signal handler in between finds it busy, as with records.
#pragma once

#include <cstring>
#include <utility>

#include "tracer/lib/memory_ticks.h"

namespace gt::tracer {

// Gives the form to its slot: what was there is forgotten. False: it could not be recorded.
bool define_form(Ring& ring, uint32_t slot, uint64_t form);

inline void put_word(Ring& ring, uint64_t word) {
  std::memcpy(ring.data + (ring.position & ring.mask), &word, sizeof word);
  ring.position += sizeof word;
}

// A call of `fn` from `site` that made the block at `address`, or is about to give it back. False: it takes a record to tell it.
inline bool record_block(BlockTag tag, api::AllocFn fn, uint64_t site, uint64_t address, uint64_t bytes = 0) {
  constexpr uint64_t MostBytes = 3 * 8;
  Ring* const ring = this_ring();
  if (__builtin_expect(!ring || !fits_block_word(address, bytes), 0)) return false;
  fetch_ahead(*ring);
  const uint64_t form = block_form(fn, site);
  const uint32_t slot = form_slot(form);
  if (__builtin_expect(ring->header->forms[slot] != form, 0) && !define_form(*ring, slot, form)) return false;
  if (__builtin_expect(ring->busy, 0)) return false;
  ring->busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler sees busy before we read position
  if (__builtin_expect(ring->position + MostBytes > ring->limit, 0) && !wait_for_space(*ring, MostBytes)) {
    ring->busy = false;
    return false;
  }
  if (counts_on(*ring)) {
    ++ring->clock.last;
  } else {
    ring->clock.last = tag == BlockTag::Made ? ticks() : ticks_after_loads();
    put_word(*ring, ticks_word(ring->clock.last));
  }
  if (const uint64_t base = base_of(address); __builtin_expect(base != ring->header->base, 0)) {
    put_word(*ring, base_word(base, std::exchange(ring->header->base, base)));
  }
  put_word(*ring, block_word(tag, slot, address, bytes));
  ring->clock.position = ring->position;
  commit(*ring, 0);
  return true;
}

}  // namespace gt::tracer
