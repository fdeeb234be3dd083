// Time, and what a list of noisy times says.
// Thread safety: none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace gt::bench {

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The q-quantile (0..1). REQUIRES: !v.empty().
inline double quantile(std::vector<double> v, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(v.size() - 1) + 0.5);
  std::nth_element(v.begin(), v.begin() + at, v.end());
  return v[static_cast<size_t>(at)];
}

// Relative half-width of the interval in which the median lies: half the middle half, over sqrt(n).
inline double median_noise(const std::vector<double>& v) {
  if (v.size() < 3) return 1;
  const double half = (quantile(v, 0.75) - quantile(v, 0.25)) / 2;
  return half / quantile(v, 0.5) / std::sqrt(static_cast<double>(v.size()));
}

}  // namespace gt::bench
