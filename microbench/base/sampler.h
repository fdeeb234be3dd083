// Measuring several things in turns, at one size after the other, until their medians are known or the time is over.
//
// At each size the probes take turns, so that a disturbance of the machine hits all of them alike: what counts later is
// often their difference. Large sizes get a larger share of the time, and what small sizes do not need goes to them. A
// size whose fewest turns would not fit into what is left ends the sweep: the budget holds whatever the machine does.
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "traces/base/status.h"
#include "traces/model/curves/curve_fit.h"

namespace gt::bench {

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One quantity ("h2d") of one thing ("pin"): all that was measured, for fits, plots and those who doubt them.
struct Series {
  std::string quantity, what;
  std::vector<model::Knot> samples;

  void add(uint64_t bytes, double ns) { samples.push_back({static_cast<double>(bytes), ns}); }
};

struct Probe {
  // Makes ready for a size. Unsupported, from here or from a turn: not at this size, nor at a larger one. Any other
  // error ends the sweep.
  std::function<Status(uint64_t bytes)> prepare;
  std::function<Status()> turn;  // measures once at that size; adds one sample or more to each of `series`
  std::vector<const Series*> series;
  uint64_t largest = 0;  // out: the largest size that was measured
  bool refused = false;  // out: a larger one was refused
};

struct Goal {
  double noise = 0.02;        // of each median, relative: enough
  int least = 3, most = 250;  // turns a size
  int least_large = 3;        // of large sizes
};

struct Pace {
  double budget_s = 1;
  Goal goal;
  std::function<void(double part)> progress = [](double) {};  // 0..1
};

// Busy when the user interrupted it.
Status sweep(std::span<Probe> probes, const std::vector<uint64_t>& sizes, const Pace& pace);

// 64 B to `most`, by powers of two; quick: by powers of four from 4 KiB on. `most` itself comes last when it is no such
// power but half a step above the last.
std::vector<uint64_t> sizes_to_measure(bool quick, uint64_t most);

// Calls `turn` (which gives ns, or an error) until the median is known or the time is over.
Result<model::Median> measure(const std::function<Result<double>()>& turn, const Pace& pace);

}  // namespace gt::bench
