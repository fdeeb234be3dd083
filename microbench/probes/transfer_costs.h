// The characterization of one device: what each allocation policy costs to allocate with and to
// transfer from. Margiolas & O'Boyle, section 5.2 (allocation and communication overhead
// microbenchmarks). Thread safety: none.
#pragma once

#include <functional>

#include "microbench/devices.h"
#include "traces/model/platform.h"

namespace gt::bench {

struct CostOptions {
  bool quick = false;
  double budget_s =
      8;  // for this device; the largest sizes get their few rounds even if it is spent
  uint64_t max_bytes = uint64_t{256} << 20;
  std::function<void(double part)> progress = [](double) {};
};

// The samples behind the curves, for plots and for those who doubt the fit.
struct CostSamples {
  std::vector<model::Knot> allocation, h2d, d2h;
};

struct DeviceResult {
  model::DeviceCosts costs;
  std::array<CostSamples, model::PolicyCount> samples;
};

Result<DeviceResult> measure_transfer_costs(const Device& device, const CostOptions& options);

}  // namespace gt::bench
