// A monotone cost curve: nanoseconds as a function of a size in bytes.
//
// Costs of memory and transfers span six decades and are straight lines between a few knees when both axes are
// logarithmic: a constant call cost, then a bandwidth, then another one past the caches. So a curve is a list of knots
// (size, ns), interpolated linearly in (log2 size, log2 ns). Below its first knot it is constant; past its last it
// grows in proportion to the size. curve_fit.h makes one of samples.
//
// Invariant: knots ascend strictly in size and never descend in ns; sizes >= 1, ns > 0, all finite.
// Thread safety: values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "traces/base/status.h"

namespace gt::model {

struct Knot {
  double size = 0;  // bytes
  double ns = 0;
  bool operator==(const Knot&) const = default;
};

// How far a fitted curve is to be trusted.
// Invariant (sound()): 1 <= from <= to, both finite; worst_error >= 0 and finite; noisy ascends and lies in [from, to].
struct CurveQuality {
  double from = 0, to = 0;    // bytes: the smallest and the largest size measured
  uint64_t samples = 0;
  uint64_t outliers = 0;      // of the samples; the medians, and so the curve, do not see them
  double worst_error = 0;     // the largest relative distance between the curve and the median of a size
  std::vector<double> noisy;  // sizes whose median is not known within NoisyFrom
  bool operator==(const CurveQuality&) const = default;

  bool sound() const {
    const auto inside = [&](double size) { return size >= from && size <= to; };
    return from >= 1 && from <= to && std::isfinite(to) && worst_error >= 0 && std::isfinite(worst_error) &&
           outliers <= samples && std::all_of(noisy.begin(), noisy.end(), inside) &&
           std::adjacent_find(noisy.begin(), noisy.end(), std::greater_equal<>()) == noisy.end();
  }
};
constexpr double NoisyFrom = 0.1;  // relative half-width of a median's interval

class Curve {
 public:
  Curve() = default;

  // Corrupt when the invariant does not hold.
  static Result<Curve> make(std::vector<Knot> knots) {
    for (size_t i = 0; i < knots.size(); ++i) {
      const Knot& k = knots[i];
      const bool finite = std::isfinite(k.size) && std::isfinite(k.ns) && k.size >= 1 && k.ns > 0;
      const bool ordered = i == 0 || (knots[i - 1].size < k.size && knots[i - 1].ns <= k.ns);
      if (!finite || !ordered) return Status(Kind::Corrupt, "a curve's sizes and times must ascend");
    }
    Curve c;
    c.knots_ = std::move(knots);
    return c;
  }

  bool empty() const { return knots_.empty(); }
  const std::vector<Knot>& knots() const { return knots_; }

  // Nothing when the curve was not fitted to samples, or nobody wrote down how well.
  const std::optional<CurveQuality>& quality() const { return quality_; }
  // REQUIRES: quality.sound().
  void set_quality(CurveQuality quality) { quality_ = std::move(quality); }

  // Was it measured at such sizes, and steady there? Without a quality: between the first knot and the last.
  // REQUIRES: !empty().
  bool trusted(double size) const {
    if (!quality_) return size >= knots_.front().size && size <= knots_.back().size;
    const auto near = [size](double noisy) { return size > noisy / 2 && size < noisy * 2; };
    return size >= quality_->from && size <= quality_->to &&
           std::none_of(quality_->noisy.begin(), quality_->noisy.end(), near);
  }

  // REQUIRES: !empty().
  double operator()(double size) const {
    const Knot& first = knots_.front();
    const Knot& last = knots_.back();
    if (size <= first.size) return first.ns;
    if (size >= last.size) return last.ns * (size / last.size);
    const auto above = std::upper_bound(knots_.begin(), knots_.end(), size,
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
  std::vector<Knot> knots_;
  std::optional<CurveQuality> quality_;
};

}  // namespace gt::model
