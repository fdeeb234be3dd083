// The plan that everybody in the program looks at, and how it comes to know more devices while the program runs.
//
// A later plan has the devices of the one before it in the same places, and then more. Where the one before has sites,
// these stay as they are, for their pools are open: costs of added devices, and whether to stage, are taken over.
// Invariant: what get() gave stays valid for the rest of the process. Thread safety: get() from any thread; the rest by
// one thread at a time. Zero-initialized: holds an empty plan. Cost of get(): one load.
#pragma once

#include <atomic>

#include "optimizer-rt/pool/plan.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

class HeldPlan {
 public:
  constexpr HeldPlan() = default;

  const PlanView& get() const noexcept { return views_[now_.load(std::memory_order_acquire)]; }
  // Remembers the path. False: there is no plan, or it is damaged, and none is held.
  bool open(const char* path) noexcept;
  // The plan that is at that path now, as it is to be held. Without header: it is no later one, or it is damaged.
  PlanView read_later() noexcept;
  void hold(const PlanView& later) noexcept;  // REQUIRES: read_later() gave it, and it has a header

 private:
  static constexpr uint32_t Views = MaxPlanDevices + 2;
  static constexpr size_t MaxPath = 4096;

  std::atomic<uint32_t> now_{0};
  PlanView views_[Views];  // [0] is empty
  PlanHeader headers_[Views] = {};
  char path_[MaxPath] = {};
};

// Has `later` the same devices first? Public for tests.
bool continues(const PlanView& before, const PlanView& later) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
