#include "transport/executor/base/in_flight.h"


namespace gt::exec {

bool InFlight::try_hold(uint64_t bytes) {
  const uint64_t now = x_bytes.fetch_add(bytes) + bytes;
  if (x_most == 0 || now <= x_most) return true;
  x_bytes -= bytes;
  return false;
}

void InFlight::let_go(uint64_t bytes) {
  x_bytes -= bytes;
  ++x_returns;
  x_refuses.store(false, std::memory_order_relaxed);
}

bool InFlight::Watch::is_stuck() {
  const uint64_t returns = x_of.x_returns;
  if (returns == x_seen && x_of.x_outside != 0) return Clock::now() - x_since >= x_of.x_timeout;
  x_seen = returns;
  moved();
  return false;
}

}  // namespace gt::exec
