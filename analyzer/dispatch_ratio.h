// The dispatch ratio: how much time the devices spend in transfers for each second that they spend
// in kernels. Margiolas & O'Boyle, section 5: a program with a ratio of at least 0.1 is worth
// optimizing.
#pragma once

#include <string>
#include <vector>

#include "traces/model/event.h"

namespace gt::analyzer {

struct Ratio {
  uint64_t transfer_ns = 0, kernel_ns = 0, overlap_ns = 0, h2d_ns = 0, d2h_ns = 0;
  uint64_t transfers = 0, kernels = 0;                      // timed
  uint64_t estimated_transfers = 0, estimated_kernels = 0;  // in the figures: timed ones stand for them
  uint64_t untimed_transfers = 0, untimed_kernels = 0;      // not in the figures

  bool defined() const { return transfer_ns > 0 || kernel_ns > 0; }
  // Infinity for transfers without kernels; 0 when there is nothing.
  double value() const;
};
struct DeviceRatio {
  std::string device;
  Ratio ratio;
};
struct DispatchRatio {
  Ratio program;  // sums over the devices
  std::vector<DeviceRatio> devices;
  double min_ratio = 0.1;
  bool eligible = false;
  std::string sentence;  // explains the verdict to someone who has never heard of it
  std::string estimated;  // what is not measured in it; empty when all is
  std::string untimed;    // what is missing from it; empty when nothing is
};

DispatchRatio find_dispatch_ratio(const model::Trace& trace, double min_ratio);

}  // namespace gt::analyzer
