// A stream's nodes in pre-order, with what a replay needs to know of each: which values to read, and whether the
// loops below are regular.
// Thread safety: immutable after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/remote/replay_loop.h"
#include "analyzer/remote/timed_call.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct ReplayNode {
  const model::Node* node = nullptr;
  uint32_t end = 0;     // one past its last descendant
  bool turns = false;   // a value that matters inside, or a trip count, takes turns
  bool regular = true;  // loops: no value that matters inside is a column, no trip count is anything but a constant or
                        // a short period
};

// Of loops in which nothing takes turns.
inline const LoopPeriods UsualPeriods = {{1, 2, 3, 4}, {}};

class ReplayTree {
 public:
  ReplayTree(const model::Stream& stream, const std::vector<TimedCall>& plans);

  const ReplayNode& operator[](size_t i) const { return nodes_[i]; }
  size_t size() const { return nodes_.size(); }
  // Those of a loop in which something takes turns.
  LoopPeriods periods(size_t loop) const;

 private:
  void add(const std::vector<model::Node>& nodes);
  void look_at_call(ReplayNode& node) const;

  const std::vector<TimedCall>& plans_;
  std::vector<ReplayNode> nodes_;
};

// The values that a plan needs, each given to visit(index).
template <class Visit>
void visit_values(const TimedCall& plan, Visit&& visit) {
  if (plan.queue.known()) visit(plan.queue.value);
  if (plan.device.known()) visit(plan.device.value);
  if (plan.made_event.known()) visit(plan.made_event.value);
  if (plan.blocking != TimedCall::NoValue) visit(plan.blocking);
  for (const TimedCall::Ref& w : plan.waits) visit(w.value);
  for (const uint32_t p : plan.properties) visit(p);
}

}  // namespace gt::analyzer
