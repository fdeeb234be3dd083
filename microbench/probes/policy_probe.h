// What each allocation policy costs to allocate with and to transfer from: Margiolas & O'Boyle, section 5.2 (allocation
// and communication overhead microbenchmarks), and the same transfers in windows. Thread safety: none.
#pragma once

#include <array>
#include <vector>

#include "microbench/base/cl_session.h"
#include "microbench/base/sampler.h"
#include "traces/model/platform/platform.h"

namespace gt::bench {

constexpr int WindowTransfers = 32;

class PolicyProbe {
 public:
  // `window_bytes`: the largest transfers that are measured in windows.
  PolicyProbe(const Session& session, uint64_t window_bytes);

  // One a policy, in the order of model::Policy; they refer to this object.
  std::vector<Probe> probes();
  // The curves of those policies of which anything was measured. `probes`: those above, swept.
  void fill(model::DeviceCosts& costs, const std::vector<Probe>& probes) const;
  std::vector<Series> series() const;

 private:
  struct Samples {
    Series allocation, h2d, d2h, h2d_window, d2h_window;
  };

  Status prepare(uint64_t bytes);
  Status turn(model::Policy policy);
  Status transfers(const memory::HostBlock& block, Samples& out);
  Status window(const memory::HostBlock& block, bool to_device, Series& out);

  const Session& session_;
  uint64_t window_bytes_, bytes_ = 0;
  Mem buffer_;
  std::array<Samples, model::PolicyCount> samples_;
};

}  // namespace gt::bench
