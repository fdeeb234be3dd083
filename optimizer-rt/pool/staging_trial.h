// Does staging keep what the curves promise? One device's transfers in one direction, on trial as sites are
// (trial_account.h): what they take is held against what the curves say of the driver's own way, and when staging has
// clearly lost, transfers are the driver's again, but for samples.
//
// Only what can be compared is: a transfer's own work, not its waiting for the program's queue, which the driver's way
// would have waited for as well (transport/staging/stager.h, Spent). What is missing in that, one part's way to the
// device or back, is in staging's favour, as the time of its set-up is. So is the limit of what one transfer may lose:
// a process that is stopped for a second in the middle of one has lost nothing by staging. A machine that is busy makes
// both ways slower, but the curves are of an idle one: staging may then be suspended though it would still be the
// faster one. That costs a gain, never more than the program without us.
// Thread safety: all functions. Allocates nothing.
#pragma once

#include <optional>

#include "optimizer-rt/pool/plan.h"
#include "optimizer-rt/pool/trial_account.h"

namespace gt::opt {

// Nanoseconds of one transfer.
struct StagedCosts {
  double took = 0, driver = 0;
};
// `copying_only`: the rest of its way is taken from the curve of pinned memory. `touching_ns`: of the first touch of
// the program's pages, which is in `ns` and would have been the driver's. Nothing when the curves do not say.
std::optional<StagedCosts> staged_costs(const WayCosts& costs, size_t bytes, uint64_t ns, bool copying_only,
                                        double touching_ns = 0) noexcept;

class StagingTrial {
 public:
  static constexpr uint64_t Margin_ns = 50'000'000;  // five times what a scheduler takes a processor away for
  static constexpr double MostLoss_ns = static_cast<double>(Margin_ns) / 8;  // by one transfer, if the driver's is less

  constexpr StagingTrial() = default;
  void open() noexcept { account_.open(Margin_ns); }  // before anything else; what is not open is never suspended
  bool is_suspended() const noexcept { return account_.is_suspended(); }
  // Is the next transfer staged?
  bool takes_next() noexcept { return account_.takes_next(); }
  TrialAccount::Turn book(const StagedCosts& costs) noexcept;

 private:
  TrialAccount account_;
};

}  // namespace gt::opt
