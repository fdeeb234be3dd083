// Noisy samples in, a monotone curve with its knees out: a pure function.
//
//   1. the median of the samples of each size (robust: a preempted sample does not count), with its interval;
//   2. pool adjacent violators: neighbours that decrease are replaced by their mean, so the curve never decreases;
//      a median that is known badly has little weight in it;
//   3. drop every knot that the line between its neighbours predicts within `tolerance` (the knees stay).
//
// Example: samples (64, 900) (64, 1100) (64, 9000) (1024, 1000) (1 Mi, 100000) give the medians 1100, 1000, 100000,
// pooled to 1049, 1049, 100000 when all
// are known equally well: three knots. Thread safety: pure functions.
#pragma once

#include "traces/model/curves/curve.h"
#include "traces/model/curves/median.h"

namespace gt::model {

// What the samples of one size say.
struct SizeMedian {
  double size = 0;  // bytes
  Median time;      // ns
};

namespace fit {

constexpr double LeastNs = 0.1;      // a time that the clock could not tell from none
constexpr double LeastNoise = 0.01;  // no median is known better than this

inline bool usable(const Knot& k) {
  return std::isfinite(k.size) && std::isfinite(k.ns) && k.size >= 1 && k.ns >= 0;
}

// Pool adjacent violators, on the logarithm; a median that is known badly counts for little.
inline std::vector<Knot> made_monotone(const std::vector<SizeMedian>& medians) {
  struct Pool {
    double log_sum, weight, first;
    size_t count;
    double mean() const { return log_sum / weight; }
    double ns() const { return count == 1 ? first : std::exp2(mean()); }
  };
  std::vector<Pool> pools;
  for (const SizeMedian& m : medians) {
    const double weight = 1 / std::max(m.time.noise(), LeastNoise);
    pools.push_back({weight * std::log2(m.time.value), weight, m.time.value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      Pool& before = pools[pools.size() - 2];
      before.log_sum += pools.back().log_sum;
      before.weight += pools.back().weight;
      before.count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<Knot> out;
  double before = 0;  // rounding must not make it descend
  for (const Pool& p : pools) {
    before = std::max(before, p.ns());
    for (size_t n = 0; n < p.count; ++n) out.push_back({medians[out.size()].size, before});
  }
  return out;
}

// Keeps first and last, and between them, recursively, the knot that the straight line misses most.
inline void keep_knees(const std::vector<Knot>& all, size_t lo, size_t hi, double tolerance, std::vector<Knot>& out) {
  double worst = 0;
  size_t at = lo;
  for (size_t i = lo + 1; i < hi; ++i) {
    const double error = std::fabs(std::log2(all[i].ns / Curve::interpolate(all[lo], all[hi], all[i].size)));
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

// One entry a size, ascending. Samples that are no times (not finite, negative, of no size) are left out.
inline std::vector<SizeMedian> medians_of(std::vector<Knot> samples) {
  std::erase_if(samples, [](const Knot& k) { return !fit::usable(k); });
  std::stable_sort(samples.begin(), samples.end(), [](const Knot& a, const Knot& b) { return a.size < b.size; });
  std::vector<SizeMedian> out;
  for (size_t i = 0; i < samples.size();) {
    const double size = samples[i].size;
    std::vector<double> group;
    for (; i < samples.size() && samples[i].size == size; ++i) group.push_back(std::max(samples[i].ns, fit::LeastNs));
    out.push_back({size, median_of(std::move(group))});
  }
  return out;
}

// The largest relative distance between the curve and the medians. REQUIRES: !curve.empty().
inline double worst_error(const Curve& curve, const std::vector<SizeMedian>& medians) {
  double worst = 0;
  for (const SizeMedian& m : medians) worst = std::max(worst, std::fabs(curve(m.size) / m.time.value - 1));
  return worst;
}

// REQUIRES: !medians.empty(), of the samples that the curve was fitted to.
inline CurveQuality quality_of(const Curve& curve, const std::vector<SizeMedian>& medians) {
  CurveQuality q{medians.front().size, medians.back().size, 0, 0, worst_error(curve, medians), {}};
  for (const SizeMedian& m : medians) {
    q.samples += m.time.n;
    q.outliers += m.time.outliers;
    if (m.time.noise() > NoisyFrom) q.noisy.push_back(m.size);
  }
  return q;
}

// Samples of any order, several a size. `tolerance`: relative error that a dropped knot may have.
// Empty for no samples; else with its quality.
inline Curve fit_curve(std::vector<Knot> samples, double tolerance = 0.02) {
  const std::vector<SizeMedian> medians = medians_of(std::move(samples));
  if (medians.empty()) return {};
  const std::vector<Knot> all = fit::made_monotone(medians);
  std::vector<Knot> knots = {all.front()};
  if (all.size() > 1) fit::keep_knees(all, 0, all.size() - 1, tolerance, knots);
  Curve curve = Curve::make(std::move(knots)).value();
  curve.set_quality(quality_of(curve, medians));
  return curve;
}

}  // namespace gt::model
