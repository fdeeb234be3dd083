// Does a site keep its policy in this run? What its pool memory has saved and cost so far, and the answer. (And does a
// device keep staging: then "allocations" are transfers, staging_trial.h.)
//
// A profile is of another run. If this one hardly transfers a site's memory, each of its blocks costs a little more
// than the C library's, and each of its pins is paid for nothing. So the site is on trial, as in ski rental:
//
//            lost `margin`                                     gained 2 * `margin` with samples
//   Serving ---------------> Suspended, one allocation in 16 ----------------------------------> Serving
//                            is served, as a sample; in 32,
//                            64, ... 4096 as samples lose, too
//
// What has been saved before counts for at most one margin. Bound: a site never loses more than two margins in a row
// before it is suspended (plus one pin), half a margin with the first samples, and then what one allocation in 4096
// costs; and it serves again only after a gain of two margins: turning back and forth costs nothing on balance.
// A pin that a site cannot afford waits until what it would have saved makes up for it, so a pin that was wrong costs
// no more than what it cost to wait for it.
//
// The margin is the profile's promise (policy.h): half of what it says the site saves, and what its pins cost. 0: what
// somebody demands is never suspended.
// Thread safety: all functions; a race may lose a booking of one transfer. Allocates nothing. Cost: one relaxed load
// for an allocation, one atomic addition for a booking.
#pragma once

#include <atomic>
#include <cstdint>

namespace gt::opt {

class TrialAccount {
 public:
  static constexpr uint32_t FirstInterval = 16, LongestInterval = 4096;  // allocations for each sample
  enum class Turn { None, Suspended, Resumed };

  constexpr TrialAccount() = default;
  void open(uint64_t margin_ns) noexcept { margin_ = static_cast<int64_t>(margin_ns); }  // before anything else

  // Is the next allocation served (by the pool)?
  bool takes_next() noexcept {
    return __builtin_expect(!is_suspended(), 1) || takes_sample();
  }
  bool is_suspended() const noexcept { return suspended_.load(std::memory_order_relaxed); }

  // Nanoseconds saved (positive) or lost.
  Turn book(double ns) noexcept;
  // A pin of `cost_ns` is affordable now. If not: owe() what the pin would have saved.
  bool affords(double cost_ns) const noexcept;
  void owe(double ns) noexcept;

 private:
  bool takes_sample() noexcept;
  bool turn(bool suspended) noexcept;
  void sample_less() noexcept;

  int64_t margin_ = 0;
  std::atomic<int64_t> balance_{0};  // ns since the last turn, at most margin_ while serving
  std::atomic<int64_t> owed_{0};     // ns that pins would have saved
  std::atomic<uint32_t> passed_{0};  // allocations while suspended
  std::atomic<uint32_t> interval_{FirstInterval};
  std::atomic<bool> suspended_{false};
};

}  // namespace gt::opt
