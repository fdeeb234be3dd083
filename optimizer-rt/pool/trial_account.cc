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
  return passed_.fetch_add(1, Relaxed) % interval_.load(Relaxed) == FirstInterval - 1;
}

bool TrialAccount::turn(bool suspended) noexcept {
  bool expected = !suspended;
  if (!suspended_.compare_exchange_strong(expected, suspended, Relaxed)) return false;  // another thread did
  balance_.store(0, Relaxed);
  owed_.store(0, Relaxed);
  passed_.store(0, Relaxed);
  interval_.store(FirstInterval, Relaxed);
  return true;
}

void TrialAccount::sample_less() noexcept {
  balance_.store(0, Relaxed);
  interval_.store(std::min(2 * interval_.load(Relaxed), LongestInterval), Relaxed);
}

TrialAccount::Turn TrialAccount::book(double ns) noexcept {
  if (margin_ == 0) return Turn::None;
  const int64_t booked = whole(ns);
  const int64_t balance = balance_.fetch_add(booked, Relaxed) + booked;
  if (is_suspended()) {
    if (balance > 2 * margin_) return turn(false) ? Turn::Resumed : Turn::None;
    if (balance < -margin_ / SampleShare) sample_less();
    return Turn::None;
  }
  if (balance < -margin_) return turn(true) ? Turn::Suspended : Turn::None;
  if (balance > margin_) balance_.store(margin_, Relaxed);
  return Turn::None;
}

bool TrialAccount::affords(double cost_ns) const noexcept {
  return margin_ == 0 || balance_.load(Relaxed) + owed_.load(Relaxed) - whole(cost_ns) >= -margin_;
}

void TrialAccount::owe(double ns) noexcept { owed_.fetch_add(std::max<int64_t>(whole(ns), 0), Relaxed); }

}  // namespace gt::opt
