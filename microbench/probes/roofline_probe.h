// Performance against arithmetic intensity: kernels with k fused multiply-adds per loaded float, and the roofline that
// predicts them from two numbers measured by others (ExpEther's model; Williams, Waterman and Patterson's picture).
//
//   predicted(k) = min(peak, bandwidth * 2 k / 4)     flop/s; a float has 4 bytes, a multiply-add is 2 operations
//
// Thread safety: none.
#pragma once

#include <vector>

#include "microbench/base/cl_session.h"
#include "microbench/base/sampler.h"

namespace gt::bench {

struct RooflinePoint {
  int fma = 0;  // per loaded float
  double flops_per_s = 0;
  double low = 0, high = 0;  // the interval of the median
  double intensity() const { return 2.0 * fma / 4; }  // operations a byte
};

struct Roofline {
  double bytes_per_s = 0;  // of a kernel that only reads
  double flops_per_s = 0;  // of a kernel that only computes
  std::vector<RooflinePoint> points;

  double predicted(int fma) const;
  // Of the prediction, relative to what was measured.
  double error(const RooflinePoint& p) const { return predicted(p.fma) / p.flops_per_s - 1; }
  // The intensity from which on computing is what limits.
  double ridge() const { return flops_per_s / bytes_per_s; }
};

// Unsupported when the device compiles nothing.
Result<Roofline> measure_roofline(const Session& session, const Pace& pace);

}  // namespace gt::bench
