// Who records alone: a thread that does, for a while, needs no ticks of its own for its memory calls.
//
// Ticks put records in order with those of other threads. SpoolHeader::alone says that there is nothing to be put in
// order now: it is the number of a ring, whose thread has taken it, or Crowd. Whoever else records sets it to Crowd,
// with one store and without waiting for anybody; so it works between processes, and whoever dies leaves nothing to
// be cleared up. Back to a ring it goes when a thread tries: after some readings of its clock, ever more of them
// while others come at once.
//
// A *period* of ring R lasts from the exchange that made `alone` R's number to the store that ended that. A call is
// *tickless* if its thread leaves out its ticks or only counts it; its ticks are then those of the thread's last
// reading plus the calls since. A record *looks* when it loads `alone`, and, if it finds another ring there, when its
// store of Crowd is seen by all.
//   1. A record with ticks of its own looks after they were read, and before it is committed (look_around()).
//   2. A tickless call looks, finds its own ring, and is committed; its thread's last reading was made in that period.
//   3. Ticks grow in each ring, and those of tickless calls are never later than the clock: a call takes more than
//      one tick. (Where it may not, on processors with a slow counter, nobody is alone.)
//   4. RingHeader::clock, the last reading, is stored before the head of what comes behind it: no tickless call behind
//      has earlier ticks.
// What a reader may assume: a record A that made a record B of another ring happen (A was committed, then whatever the
// program does to hand something over, then B was begun) has the earlier ticks. For
//   - B has ticks: they were read after A was committed, and A's are never later than that (3).
//   - B is tickless, in period P. Had A looked in P or later, P would be over by then, and B, which begins after
//     that, would have found it so. So A looked before P began, and A's ticks are earlier than that (1, 3); B's thread
//     read its clock in P (2).
// It may not assume that ticks grow in the order in which records are visible: calls that are counted have ticks of
// long ago, though never earlier than those of what could have caused them.
// Thread safety: all threads and processes of a spool. Cost: a load and a comparison.
#pragma once

#include "tracer/lib/ring.h"
#include "tracer/lib/ticks.h"

namespace gt::tracer {

constexpr uint32_t Crowd = 0;
constexpr uint32_t number_of(const Ring& ring) { return ring.index + 1; }

// Is a tick no longer than a record takes?
#if defined(__x86_64__)
constexpr bool TicksAreShort = true;
#else
constexpr bool TicksAreShort = false;
#endif

// As of now. Before a tickless call, and after everything that the thread has seen of others: their stores come to it
// in order.
inline bool is_alone(const SpoolHeader& spool, const Ring& ring) {
  return TicksAreShort && spool.alone.load(std::memory_order_acquire) == number_of(ring);
}

// Who is alone, read after `when` was: the address depends on it, which no processor anticipates.
inline uint32_t who_is_alone(const SpoolHeader& spool, uint64_t when) {
  uint64_t nothing = when >> 63;
  asm("" : "+r"(nothing));  // or the compiler would know that it is none
  return (&spool.alone)[nothing].load(std::memory_order_acquire);
}

// Of a record with these ticks, just read: nobody else is alone any more.
inline void look_around(SpoolHeader& spool, const Ring& ring, uint64_t when) {
  if constexpr (!TicksAreShort) return;
  const uint32_t who = who_is_alone(spool, when);
  if (__builtin_expect(who != Crowd && who != number_of(ring), 0)) spool.alone.store(Crowd, std::memory_order_release);
}

// The rare half of the next one: somebody else is alone, or we were, or it is time to try.
void find_others(SpoolHeader& spool, Ring& ring, uint32_t who, uint64_t when);

// Of a memory call with these ticks, just read: the same. Is its thread alone, and may count on from these ticks?
inline bool look_for_solitude(SpoolHeader& spool, Ring& ring, uint64_t when) {
  if constexpr (!TicksAreShort) return false;
  const uint32_t who = who_is_alone(spool, when);
  if (__builtin_expect(who == number_of(ring), 1)) return true;
  if (who != Crowd || --ring.solitude.left == 0) find_others(spool, ring, who, when);
  return false;
}

}  // namespace gt::tracer
