// How often each node of a folded stream was executed, without unfolding it.
//
//   loop x1000 { write; loop x{3,5} { launch } }     write 1000 times; the inner loop is entered 1000 times and goes
//                                                    round 4000 times; launch 4000 times
// Thread safety: functions are independent.
#pragma once

#include <functional>
#include <span>

#include "traces/model/fold/event.h"

namespace gt::model {

struct Execution {
  size_t depth = 0;      // loops around the node
  uint64_t entered = 0;  // how often the node was reached
  uint64_t times = 0;    // Loop: iterations, all entries together; Run, Summary: calls; Call: as `entered`
};

// Visits the nodes in pre-order. Cost: O(nodes), and the trip counts that have no closed form. Sums that do not fit
// stay at the greatest number; loops deeper than any real trace has count as never entered.
void visit_executions(std::span<const Node> nodes, const std::function<void(const Node&, const Execution&)>& visit);

}  // namespace gt::model
