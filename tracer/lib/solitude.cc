#include "tracer/lib/solitude.h"

#include <algorithm>

namespace gt::tracer {

namespace {

// Each time that a thread finds another one alone, and is alone itself soon after, both wait for the other's cache: for
// less than a microsecond. In so many ticks, some ten microseconds, it was worth that.
constexpr uint64_t LongEnough = 1 << 15;
constexpr uint32_t MostWait = 1 << 18;  // readings: some ten milliseconds of a program that does nothing but call

}  // namespace

__attribute__((noinline)) void find_others(SpoolHeader& spool, Ring& ring, uint32_t who, uint64_t when) {
  Solitude& solitude = ring.solitude;
  if (solitude.since != 0) {
    const bool worth_it = when - solitude.since >= LongEnough;
    solitude = {worth_it ? Solitude::FirstWait : std::min(2 * solitude.wait, MostWait)};
    solitude.left = solitude.wait;
  }
  if (who != Crowd) {
    spool.alone.store(Crowd, std::memory_order_release);
    return;
  }
  if (solitude.left != 0) return;
  uint32_t expected = Crowd;
  const bool ours = spool.alone.compare_exchange_strong(expected, number_of(ring), std::memory_order_seq_cst);
  // The period begins before this is read; and so before the next reading, from which calls may count on. Whoever ends
  // it, we come here at the next reading after that.
  if (ours) solitude.since = ticks_after_loads();
  solitude.left = ours ? 1 : solitude.wait;
}

}  // namespace gt::tracer
