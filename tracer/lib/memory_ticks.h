// The ticks of memory records, which a program writes by the million.
//
// Memory calls are not timed: their ticks only put them in order with the records of other threads. While the whole
// recording has but one ring there is nothing to be put in order, and most records count on from the last reading
// instead of paying for another one (12 to 25 ns, half of what a record costs).
// Why that stays right when a second thread comes: what its records cause in this thread happens after it claimed its
// ring, and is known to this thread by the same synchronization by which it was caused.
// Invariants: ticks grow within a ring, and are never later than the clock (a record takes more than one tick); they
// are at most ReadEvery records of this thread behind it.
// Thread safety: a thread's own clock.
#pragma once

#include "tracer/lib/recorder.h"

namespace gt::tracer {

// Is there but one ring, and a tick no longer than a record takes?
inline bool is_alone() {
#if defined(__x86_64__)
  return spool()->rings_used.load(std::memory_order_relaxed) == 1;
#else
  return false;
#endif
}

// May the next memory call count on from the last one, at ++clock.last?
inline bool counts_on(Ring& ring) {
  MemoryClock& clock = ring.clock;
  return is_alone() && ring.position == clock.position && ++clock.counted % MemoryClock::ReadEvery != 0;
}

inline uint64_t memory_ticks(Ring& ring, bool after_loads) {
  if (counts_on(ring)) return ++ring.clock.last;
  return ring.clock.last = after_loads ? ticks_after_loads() : ticks();
}

// Asks for the cache lines of the next records: the collector has read them, so they are not ours to write.
inline void fetch_ahead(const Ring& ring) {
  constexpr uint64_t Ahead = 1024;
  __builtin_prefetch(ring.data + ((ring.position + Ahead) & ring.mask), 1, 3);
}

}  // namespace gt::tracer
