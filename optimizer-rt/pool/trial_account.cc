// Booking, and turning.
#include "optimizer-rt/pool/trial_account.h"

#include <algorithm>
#include <cmath>

namespace gt::opt {
namespace {

constexpr auto Relaxed = std::memory_order_relaxed;
constexpr double Most = 1e15;  // ns in one booking: eleven days
constexpr int64_t SampleShare = 16;

int64_t whole(double ns) { return std::isfinite(ns) ? std::llround(std::clamp(ns, -Most, Most)) : 0; }

}  // namespace

bool TrialAccount::takes_sample() noexcept {
  return x_passed.fetch_add(1, Relaxed) % x_interval.load(Relaxed) == FirstInterval - 1;
}

bool TrialAccount::turn(bool suspended) noexcept {
  bool expected = !suspended;
  if (!x_suspended.compare_exchange_strong(expected, suspended, Relaxed)) return false;  // another thread did
  x_balance.store(0, Relaxed);
  x_owed.store(0, Relaxed);
  x_passed.store(0, Relaxed);
  x_interval.store(FirstInterval, Relaxed);
  return true;
}

void TrialAccount::sample_less() noexcept {
  x_balance.store(0, Relaxed);
  x_interval.store(std::min(2 * x_interval.load(Relaxed), LongestInterval), Relaxed);
}

TrialAccount::Turn TrialAccount::book(double ns) noexcept {
  if (x_margin == 0) return Turn::None;
  const int64_t booked = whole(ns);
  const int64_t balance = x_balance.fetch_add(booked, Relaxed) + booked;
  if (is_suspended()) {
    if (balance > 2 * x_margin) return turn(false) ? Turn::Resumed : Turn::None;
    if (balance < -x_margin / SampleShare) sample_less();
    return Turn::None;
  }
  if (balance < -x_margin) return turn(true) ? Turn::Suspended : Turn::None;
  if (balance > x_margin) x_balance.store(x_margin, Relaxed);
  return Turn::None;
}

bool TrialAccount::affords(double cost_ns) const noexcept {
  return x_margin == 0 || x_balance.load(Relaxed) + x_owed.load(Relaxed) - whole(cost_ns) >= -x_margin;
}

void TrialAccount::owe(double ns) noexcept { x_owed.fetch_add(std::max<int64_t>(whole(ns), 0), Relaxed); }

}  // namespace gt::opt
