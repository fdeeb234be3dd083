// Comparing, moving on.
#include "analyzer/remote/replay_loop.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace gt::analyzer {
namespace {

// Double arithmetic on 10^12 ns leaves about 10^-4 ns.
bool close(double a, double b) { return std::fabs(a - b) <= 1e-3 + 1e-9 * std::max(std::fabs(a), std::fabs(b)); }

bool evenly(double a, double b, double c) { return close(b - a, c - b); }

}  // namespace

void ReplayState::take(ReplayMachine& machine, std::span<const uint64_t> nodes, uint64_t trail_of_iteration) {
  clocks.clear(), sums.clear(), slots.clear();
  machine.visit([this](auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_same_v<Part, ReplayClock>) clocks.push_back(part);
    if constexpr (std::is_same_v<Part, double>) sums.push_back(part);
    if constexpr (std::is_same_v<Part, int64_t>) slots.push_back(part);
  });
  executions.assign(nodes.begin(), nodes.end());
  shape = machine.shape();
  trail = trail_of_iteration;
}

bool same_step(const ReplayState& a, const ReplayState& b, const ReplayState& c) {
  if (a.shape != b.shape || b.shape != c.shape) return false;
  for (size_t i = 0; i < c.clocks.size(); ++i) {
    if (!evenly(a.clocks[i].at, b.clocks[i].at, c.clocks[i].at)) return false;
    if (!evenly(a.clocks[i].slope, b.clocks[i].slope, c.clocks[i].slope)) return false;
  }
  for (size_t i = 0; i < c.slots.size(); ++i)
    if (b.slots[i] - a.slots[i] != c.slots[i] - b.slots[i]) return false;
  for (size_t i = 0; i < c.executions.size(); ++i)
    if (b.executions[i] - a.executions[i] != c.executions[i] - b.executions[i]) return false;
  return true;
}

void extrapolate(ReplayMachine& machine, std::span<uint64_t> nodes, const ReplayState& from, const ReplayState& to,
                 uint64_t times) {
  const auto n = static_cast<double>(times);
  size_t clock = 0, sum = 0, slot = 0;
  machine.visit([&](auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_same_v<Part, ReplayClock>) {
      const ReplayClock& a = from.clocks[clock];
      const ReplayClock& b = to.clocks[clock++];
      part.at += n * (b.at - a.at);
      part.slope += n * (b.slope - a.slope);
      for (size_t i = 0; i < TermCount; ++i) part.parts[i] += n * (b.parts[i] - a.parts[i]);
    }
    if constexpr (std::is_same_v<Part, double>) {
      part += n * (to.sums[sum] - from.sums[sum]);
      ++sum;
    }
    if constexpr (std::is_same_v<Part, int64_t>) {
      const auto step = static_cast<uint64_t>(to.slots[slot]) - static_cast<uint64_t>(from.slots[slot]);
      part = static_cast<int64_t>(static_cast<uint64_t>(part) + times * step);
      ++slot;
    }
  });
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i] += times * (to.executions[i] - from.executions[i]);
}

void shift(ReplayMachine& machine, std::span<uint64_t> nodes, const ReplayState& start, double more) {
  ReplayState now;
  now.take(machine, nodes, 0);
  const ReplayClock& a = start.clocks.front();  // the host's
  const ReplayClock b = now.clocks.front();
  size_t sum = 0;
  machine.visit([&](auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_same_v<Part, ReplayClock>) {
      part.at += more * (b.at - a.at);
      for (size_t i = 0; i < TermCount; ++i) part.parts[i] += more * (b.parts[i] - a.parts[i]);
    }
    if constexpr (std::is_same_v<Part, double>) {
      part += more * (now.sums[sum] - start.sums[sum]);
      ++sum;
    }
  });
  for (size_t i = 0; i < nodes.size(); ++i)
    nodes[i] += static_cast<uint64_t>(
        std::min(1e18, more * static_cast<double>(now.executions[i] - start.executions[i])));
}

void set_slopes(ReplayMachine& machine, const ReplayState& from, const ReplayState& to) {
  size_t clock = 0;
  machine.visit([&](auto& part) {
    if constexpr (std::is_same_v<std::decay_t<decltype(part)>, ReplayClock>) {
      part.slope = to.clocks[clock].at - from.clocks[clock].at;
      ++clock;
    }
  });
}

void clear_slopes(ReplayMachine& machine) {
  machine.visit([](auto& part) {
    if constexpr (std::is_same_v<std::decay_t<decltype(part)>, ReplayClock>) part.slope = 0;
  });
}

void LoopHistory::reset(const LoopPeriods& periods) {
  periods_ = &periods;
  ring_.resize(2 * size_t{periods.candidates.back()} + 1);
  count_ = 0;
}

void LoopHistory::add(ReplayMachine& machine, std::span<const uint64_t> nodes, uint64_t trail) {
  ring_[count_++ % ring_.size()].take(machine, nodes, trail);
}

const ReplayState& LoopHistory::back(size_t iterations_ago) const {
  return ring_[(count_ - 1 - iterations_ago) % ring_.size()];
}

bool LoopHistory::repeats(uint32_t period) const {
  if (count_ < 2 * size_t{period} + 1) return false;
  for (uint32_t i = 0; i < period; ++i)
    if (back(i).trail != back(i + period).trail) return false;
  for (const LoopPeriods::Turn& t : periods_->turns)
    if ((back(0).executions[t.node] - back(period).executions[t.node]) % t.length != 0) return false;
  return same_step(back(2 * size_t{period}), back(period), back(0));
}

std::optional<uint32_t> LoopHistory::period() const {
  for (const uint32_t p : periods_->candidates)
    if (repeats(p)) return p;
  return std::nullopt;
}

}  // namespace gt::analyzer
