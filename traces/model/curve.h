// A monotone cost curve: nanoseconds as a function of a size in bytes.
//
// Costs of memory and transfers span six decades and are straight lines between a few knees when
// both axes are logarithmic: a constant call cost, then a bandwidth, then another one past the
// caches. So a curve is a list of knots (size, ns), interpolated linearly in (log2 size, log2 ns).
// Below its first knot it is constant; past its last it grows in proportion to the size.
//
// fit_curve turns noisy samples into such a curve in three steps:
//   1. the median of the samples of each size (robust: a preempted sample does not count);
//   2. pool adjacent violators: neighbours that decrease are replaced by their mean, so the curve
//   never decreases;
//   3. drop every knot that the line between its neighbours predicts within `tolerance` (the knees
//   stay).
// Example: samples (64, 900) (64, 1100) (64, 9000) (1024, 1000) (1 Mi, 100000) give the medians
// 1100, 1000, 100000, pooled to 1049, 1049, 100000: three knots.
//
// Invariant: knots ascend strictly in size and never descend in ns; sizes >= 1, ns > 0, all finite.
// Thread safety: values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "traces/base/status.h"

namespace gt::model {

struct Knot {
  double size = 0;  // bytes
  double ns = 0;
  bool operator==(const Knot&) const = default;
};

class Curve {
 public:
  Curve() = default;

  // Corrupt when the invariant does not hold.
  static Result<Curve> make(std::vector<Knot> knots) {
    for (size_t i = 0; i < knots.size(); ++i) {
      const Knot& k = knots[i];
      const bool finite = std::isfinite(k.size) && std::isfinite(k.ns) && k.size >= 1 && k.ns > 0;
      const bool ordered = i == 0 || (knots[i - 1].size < k.size && knots[i - 1].ns <= k.ns);
      if (!finite || !ordered)
        return Status(Kind::Corrupt, "a curve's sizes and times must ascend");
    }
    Curve c;
    c.x_knots = std::move(knots);
    return c;
  }

  bool empty() const { return x_knots.empty(); }
  const std::vector<Knot>& knots() const { return x_knots; }

  // REQUIRES: !empty().
  double operator()(double size) const {
    const Knot& first = x_knots.front();
    const Knot& last = x_knots.back();
    if (size <= first.size) return first.ns;
    if (size >= last.size) return last.ns * (size / last.size);
    const auto above = std::upper_bound(x_knots.begin(), x_knots.end(), size,
                                        [](double s, const Knot& k) { return s < k.size; });
    const Knot& a = *(above - 1);
    const Knot& b = *above;
    return interpolate(a, b, size);
  }

  // REQUIRES: a.size < b.size.
  static double interpolate(const Knot& a, const Knot& b, double size) {
    const double part = std::log2(size / a.size) / std::log2(b.size / a.size);
    return a.ns * std::exp2(part * std::log2(b.ns / a.ns));
  }

 private:
  std::vector<Knot> x_knots;
};

namespace fit {

inline double median(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

inline std::vector<Knot> medians(std::vector<Knot> samples) {
  std::erase_if(samples, [](const Knot& k) {
    return !std::isfinite(k.size) || !std::isfinite(k.ns) || k.size < 1 || k.ns < 0;
  });
  std::sort(samples.begin(), samples.end(),
            [](const Knot& a, const Knot& b) { return a.size < b.size; });
  std::vector<Knot> out;
  for (size_t i = 0; i < samples.size();) {
    const double size = samples[i].size;
    std::vector<double> group;
    for (; i < samples.size() && samples[i].size == size; ++i) group.push_back(samples[i].ns);
    out.push_back({size, std::max(median(std::move(group)), 0.1)});
  }
  return out;
}

// Pool adjacent violators, on the logarithm.
inline void make_monotone(std::vector<Knot>& knots) {
  struct Pool {
    double log_sum;
    size_t count;
    double mean() const { return log_sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const Knot& k : knots) {
    pools.push_back({std::log2(k.ns), 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].log_sum += pools.back().log_sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  size_t i = 0;
  for (const Pool& p : pools)
    for (size_t n = 0; n < p.count; ++n) knots[i++].ns = std::exp2(p.mean());
}

// Keeps first and last, and between them, recursively, the knot that the straight line misses most.
inline void keep_knees(const std::vector<Knot>& all, size_t lo, size_t hi, double tolerance,
                       std::vector<Knot>& out) {
  double worst = 0;
  size_t at = lo;
  for (size_t i = lo + 1; i < hi; ++i) {
    const double error =
        std::fabs(std::log2(all[i].ns / Curve::interpolate(all[lo], all[hi], all[i].size)));
    if (error > worst) worst = error, at = i;
  }
  if (worst > std::log2(1 + tolerance)) {
    keep_knees(all, lo, at, tolerance, out);
    keep_knees(all, at, hi, tolerance, out);
  } else {
    out.push_back(all[hi]);
  }
}

}  // namespace fit

// Samples of any order, several a size. `tolerance`: relative error that a dropped knot may have.
// Empty for no samples.
inline Curve fit_curve(std::vector<Knot> samples, double tolerance = 0.02) {
  std::vector<Knot> all = fit::medians(std::move(samples));
  if (all.empty()) return {};
  fit::make_monotone(all);
  std::vector<Knot> out = {all.front()};
  if (all.size() > 1) fit::keep_knees(all, 0, all.size() - 1, tolerance, out);
  return Curve::make(std::move(out)).value();
}

// The largest relative distance between the curve and the medians of `samples`: how far to trust
// it.
inline double worst_error(const Curve& curve, std::vector<Knot> samples) {
  double worst = 0;
  for (const Knot& k : fit::medians(std::move(samples)))
    worst = std::max(worst, std::fabs(curve(k.size) / k.ns - 1));
  return worst;
}

}  // namespace gt::model
