// When does a loop repeat itself? Snapshots of a machine's state, compared.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/remote/replay_machine.h"

namespace gt::analyzer {

// A state as flat lists, in the order of ReplayMachine::visit.
struct ReplayState {
  std::vector<ReplayClock> clocks;
  std::vector<double> sums;
  std::vector<int64_t> slots;
  std::vector<uint64_t> executions;  // of the nodes in the loop
  uint64_t shape = 0, trail = 0;     // trail: of the iteration that ended in this state

  void take(ReplayMachine& machine, std::span<const uint64_t> nodes, uint64_t trail_of_iteration);
};

// In which steps a loop's iterations may be skipped.
struct LoopPeriods {
  // A value that takes turns: its place in the sequence is what a node of the loop was executed so far.
  struct Turn {
    uint32_t node = 0;  // counted from the loop's first node
    uint32_t length = 0;
    bool operator==(const Turn&) const = default;
  };
  std::vector<uint32_t> candidates;  // ascending, not empty
  std::vector<Turn> turns;           // a period is whole turns of each; a run of equal values is none
};

// The snapshots after the last iterations.
class LoopHistory {
 public:
  // Forgets everything; memory is kept. `periods` stays while the history is in use.
  void reset(const LoopPeriods& periods);

  void add(ReplayMachine& machine, std::span<const uint64_t> nodes, uint64_t trail);
  void clear() { count_ = 0; }
  // The shortest period that the last iterations have kept for two periods running.
  std::optional<uint32_t> period() const;
  const ReplayState& back(size_t iterations_ago) const;

 private:
  bool repeats(uint32_t period) const;

  const LoopPeriods* periods_ = nullptr;
  std::vector<ReplayState> ring_;
  size_t count_ = 0;
};

// Is the step from `b` to `c` that from `a` to `b`?
bool same_step(const ReplayState& a, const ReplayState& b, const ReplayState& c);

// Moves the state `to` (the machine's present one) on by `times` times the step from `from` to it.
void extrapolate(ReplayMachine& machine, std::span<uint64_t> nodes, const ReplayState& from, const ReplayState& to,
                 uint64_t times);

// Moves the whole state on, as if the host's mean pace since `start` had gone on for `more` times as long.
void shift(ReplayMachine& machine, std::span<uint64_t> nodes, const ReplayState& start, double more);

// Gives each clock the slope that it had between two states; or none.
void set_slopes(ReplayMachine& machine, const ReplayState& from, const ReplayState& to);
void clear_slopes(ReplayMachine& machine);

}  // namespace gt::analyzer
