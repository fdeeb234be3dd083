#include "optimizer-rt/pool/staging_trial.h"

#include <algorithm>

namespace gt::opt {

std::optional<StagedCosts> staged_costs(const WayCosts& costs, size_t bytes, uint64_t ns, bool copying_only,
                                        double touching_ns) noexcept {
  if (!costs.standard.known() || (copying_only && !costs.pinned.known())) return std::nullopt;
  return StagedCosts{static_cast<double>(ns) + (copying_only ? costs.pinned(bytes) : 0),
                     costs.standard(bytes) + touching_ns};
}

TrialAccount::Turn StagingTrial::book(const StagedCosts& costs) noexcept {
  return account_.book(std::max(costs.driver - costs.took, -std::max(MostLoss_ns, costs.driver)));
}

}  // namespace gt::opt
