// What takes longer in one trace than in another, by more than a limit: for pipelines that are to refuse it
// (`gtrace diff --fail-above 5%`).
//
// Looked at: the sums of host time in OpenCL functions, of device time of kernels, and of time of transfers; and each
// function, kernel and size class that makes up a twentieth of its sum. Less than a millisecond more is noise, whatever
// its ratio.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/gtrace/compare/time_change.h"

namespace gt::tracer {

struct Regression {
  std::string list;  // "functions", "kernels", "transfers"
  std::string name;  // "all of them" for the sum
  uint64_t a_ns = 0, b_ns = 0;
  double growth() const { return static_cast<double>(b_ns) / static_cast<double>(a_ns) - 1; }
};

// "5%" or "5" is 0.05; nothing when it is no percentage.
std::optional<double> parse_percentage(std::string_view text);

// In the order of the lists, each with its sum first, then the largest growth in ns first.
std::vector<Regression> find_regressions(const TimeChanges& changes, double limit);

}  // namespace gt::tracer
