#include "transport/executor/base/in_flight.h"


namespace gt::exec {

bool InFlight::try_hold(uint64_t bytes) {
  const uint64_t now = bytes_.fetch_add(bytes) + bytes;
  if (most_ == 0 || now <= most_) return true;
  bytes_ -= bytes;
  return false;
}

void InFlight::let_go(uint64_t bytes) {
  bytes_ -= bytes;
  ++returns_;
  refuses_.store(false, std::memory_order_relaxed);
}

bool InFlight::Watch::is_stuck() {
  const uint64_t returns = of_.returns_;
  if (returns == seen_ && of_.outside_ != 0) return Clock::now() - since_ >= of_.timeout_;
  seen_ = returns;
  moved();
  return false;
}

}  // namespace gt::exec
