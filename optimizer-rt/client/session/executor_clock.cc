#include "optimizer-rt/client/session/executor_clock.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace gt::virt {

void ExecutorClock::sample(int64_t sent_ns, int64_t clock_ns, int64_t answered_ns) {
  const MutexLock lock(mutex_);
  const int64_t half = (answered_ns - sent_ns) / 2;
  Knot knot{clock_ns, sent_ns + half};
  if (!knots_.empty()) {
    const int64_t aged = error_ + std::max<int64_t>(knot.client - sampled_, 0) / Drift;
    if (half > aged && std::abs(knot.client - map(clock_ns)) <= half + aged) return;  // we know better
  }
  error_ = half;
  sampled_ = knot.client;
  if (!latest_) {
    knots_.assign(1, knot);
    return;
  }
  const Knot told{*latest_, map(*latest_)};
  while (!knots_.empty() && knots_.back().executor >= told.executor) knots_.pop_back();
  knots_.push_back(told);
  if (knot.executor <= told.executor) {  // what it says, it says of every time behind it
    knot.client += told.executor + 1 - knot.executor;
    knot.executor = told.executor + 1;
  }
  error_ += std::max<int64_t>(told.client - knot.client, 0);
  knot.client = std::max(knot.client, told.client);
  knots_.push_back(knot);
  while (knots_.size() > MostKnots) knots_.pop_front();
}

int64_t ExecutorClock::to_client(int64_t executor_ns) {
  const MutexLock lock(mutex_);
  latest_ = std::max(latest_.value_or(executor_ns), executor_ns);
  return map(executor_ns);
}

int64_t ExecutorClock::map(int64_t executor_ns) const {
  if (knots_.empty()) return executor_ns;
  const auto is_after = [&](const Knot& k) { return k.executor > executor_ns; };
  const auto after = std::find_if(knots_.begin(), knots_.end(), is_after);
  if (after == knots_.begin()) return after->client - (after->executor - executor_ns);
  const auto before = std::prev(after);
  const int64_t passed = executor_ns - before->executor;
  if (after == knots_.end()) return before->client + passed;
  const auto share = static_cast<__int128>(passed) * (after->client - before->client);
  return before->client + static_cast<int64_t>(share / (after->executor - before->executor));
}

}  // namespace gt::virt
