// The ticks of memory records, which a program writes by the million.
//
// Memory calls are not timed: their ticks only put them in order with the records of other threads. While a thread
// records alone (solitude.h) there is nothing to be put in order, and most records count on from the last reading
// instead of paying for another one (12 to 25 ns, half of what a record costs).
// Invariants: ticks grow within a ring, and are never later than the clock; they are at most ReadEvery records of this
// thread behind it, but for calls that repeat (repeats.h).
// Thread safety: a thread's own clock.
#pragma once

#include "tracer/lib/recorder.h"

namespace gt::tracer {

// May the next memory call count on from the last one? Then clock.last is its ticks.
inline bool counts_on(Ring& ring) {
  MemoryClock& clock = ring.clock;
  if (clock.left == 0 || ring.position != clock.position || !is_alone(*detail::g_spool, ring)) return false;
  --clock.left;
  ++clock.last;
  return true;
}

// After all that the thread has seen of others, also where a block was made: another thread may just have freed it.
inline uint64_t read_clock(Ring& ring) {
  MemoryClock& clock = ring.clock;
  clock.last = ticks_after_loads();
  ring.header->clock.store(clock.last, std::memory_order_relaxed);
  clock.left = look_for_solitude(*detail::g_spool, ring, clock.last) ? MemoryClock::ReadEvery - 1 : 0;
  return clock.last;
}

inline uint64_t memory_ticks(Ring& ring) { return counts_on(ring) ? ring.clock.last : read_clock(ring); }

// Asks for the cache lines of the next records: the collector has read them, so they are not ours to write.
inline void fetch_ahead(const Ring& ring) {
  constexpr uint64_t Ahead = 1024;
  const uint8_t* const line = ring.data + ((ring.position + Ahead) & ring.mask);
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*line));  // compilers make one for readers of it, as old processors had no other
#else
  __builtin_prefetch(line, 1, 3);
#endif
}

}  // namespace gt::tracer
