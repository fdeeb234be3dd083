// A point in time of a replay, and what it is made of.
//
// A replay is max-plus arithmetic: a time is a sum of costs after the latest of several earlier times. Each clock
// carries the composition of its latest chain, so the end of the run says how much of it was waiting for replies,
// bandwidth, devices and host: along the critical path, adding up to the whole.
//
// While a loop is probed (link_replay.h), a clock also carries its slope: how much later it is in each further period.
// A maximum of two clocks stays what it is until the slower one has caught up; the first such moment is the horizon,
// and up to there the loop is a straight line.
//
// Invariant: at == sum of parts (up to rounding). Thread safety: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace gt::analyzer {

enum class Term : uint8_t { Latency, Bandwidth, Device, Host };
constexpr size_t TermCount = 4;
using Terms = std::array<double, TermCount>;  // ns

struct ReplayClock {
  double at = 0;     // ns
  double slope = 0;  // ns a period
  Terms parts{};

  void add(Term term, double ns) {
    at += ns;
    parts[static_cast<size_t>(term)] += ns;
  }
};

// How many periods the decisions made so far stay the same.
struct Horizon {
  static constexpr double Parallel = 1e-6;  // ns a period: what is less is rounding
  double periods = std::numeric_limits<double>::infinity();

  // The later of two clocks.
  const ReplayClock& later(const ReplayClock& a, const ReplayClock& b) {
    const bool first = a.at > b.at || (a.at == b.at && a.slope >= b.slope);
    const ReplayClock& winner = first ? a : b;
    const ReplayClock& loser = first ? b : a;
    const double nearer = loser.slope - winner.slope;
    if (nearer > Parallel) {
      const double reached = (winner.at - loser.at) / nearer;
      if (reached < periods) periods = reached;
    }
    return winner;
  }
  void wait(ReplayClock& clock, const ReplayClock& other) { clock = later(clock, other); }
};

}  // namespace gt::analyzer
