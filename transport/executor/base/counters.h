// The table of an executor's counters (counters.def), as data.
// Thread safety: LiveCounters are atomic, each for itself; the rest are values and constants.
#pragma once

#include <atomic>
#include <cstdint>

namespace gt::exec {

#define GT_COUNTER(name, shown, help) GT_COUNTER_AS(name, #name, #name, 1, shown, help)

template <class Number>
struct CountersOf {
#define GT_COUNTER_AS(name, status, metric, unit, shown, help) Number name{0};
#include "transport/executor/base/counters.def"
#undef GT_COUNTER_AS
};
using LiveCounters = CountersOf<std::atomic<uint64_t>>;
using Counters = CountersOf<uint64_t>;

enum class Shown : uint8_t {
  Session,  // nowhere else
  Metric,   // as a metric: the sum of all sessions
  Total,    // as that metric, and in the status
  Now,      // as a metric of each session; it falls too, so that there is no sum
};

struct CounterRow {
  const char* status;
  const char* metric;
  uint64_t unit;
  Shown shown;
  const char* help;
  uint64_t Counters::* value;
  std::atomic<uint64_t> LiveCounters::* live;
};

inline constexpr CounterRow CounterRows[] = {
#define GT_COUNTER_AS(name, status, metric, unit, shown, help) \
  {status, metric, unit, Shown::shown, help, &Counters::name, &LiveCounters::name},
#include "transport/executor/base/counters.def"
#undef GT_COUNTER_AS
};
#undef GT_COUNTER

}  // namespace gt::exec
