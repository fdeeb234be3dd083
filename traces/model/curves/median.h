// What a list of noisy times says: its median, the interval in which the true median lies, its outliers.
//
// Times of a machine that does other things too are skewed and have a long tail, so nothing here assumes a shape. The
// interval is the nonparametric one: how many of n samples lie below the true median is Binomial(n, 1/2), so it lies
// between the k-th smallest and the k-th largest with a probability that only n and k decide. With fewer than six
// samples not even the extremes reach 95 %; they are given then, and `n` tells.
// Example: of ten samples the 2nd smallest and the 2nd largest bound it with 97.9 %.
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gt::model {

struct Median {
  double value = 0, low = 0, high = 0;  // low <= value <= high
  size_t n = 0;                         // samples
  size_t outliers = 0;                  // of them: so far away that something else must have happened
  // Half the interval, relative to the median; 1 (not known) of fewer than three samples.
  double noise() const { return n < 3 || !(value > 0) ? 1 : (high - low) / 2 / value; }
};

namespace statistics {

constexpr double Reach = 6;              // median deviations; four standard deviations where times are normal
constexpr double LeastDeviation = 0.01;  // of the median: clocks and rounding make smaller ones meaningless
constexpr double Tail = 0.025;           // on each side: 95 % are between

// The largest k for which the k-th smallest and largest of n samples hold the median with 95 %; at least 1.
inline size_t interval_rank(size_t n) {
  const double count = static_cast<double>(n);
  if (n > 500) return static_cast<size_t>((count - 1.96 * std::sqrt(count)) / 2);
  double term = std::exp2(-count), below = term;  // P(X = 0), P(X <= 0)
  size_t k = 0;
  while (below <= Tail && k < n / 2) {
    ++k;
    term *= (count - static_cast<double>(k) + 1) / static_cast<double>(k);
    below += term;
  }
  return std::max<size_t>(k, 1);
}

// Of sorted values, between two of them where it falls between.
inline double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

// By the median of the distances from the median, which holds until half of the samples are disturbed.
inline size_t count_outliers(const std::vector<double>& samples, double median) {
  if (samples.size() < 5) return 0;
  std::vector<double> distances;
  for (const double s : samples) distances.push_back(std::fabs(s - median));
  std::sort(distances.begin(), distances.end());
  const double reach = Reach * std::max(quantile(distances, 0.5), LeastDeviation * median);
  return static_cast<size_t>(distances.end() - std::upper_bound(distances.begin(), distances.end(), reach));
}

}  // namespace statistics

// REQUIRES: !samples.empty().
inline Median median_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const size_t n = samples.size(), k = statistics::interval_rank(n);
  Median m{statistics::quantile(samples, 0.5), samples[k - 1], samples[n - k], n, 0};
  m.outliers = statistics::count_outliers(samples, m.value);
  return m;
}

}  // namespace gt::model
