// The calls of a stream in order, with their values: enough of them to know what all of them do.
//
// Rules that follow objects from call to call need calls one after the other, but a loop of ten million iterations is
// not to be unfolded. Where all values that matter are constant, affine or periodic (period P of all of them), what a
// rule can see repeats every P iterations once it has settled. So of such a loop the first P + 1 iterations are shown,
// then, after a jump of a whole number of periods, P + 1 to settle again and the rest; the last P stand for all that
// were jumped over, by their weight. P = 1, 1000 iterations:
//
//   i = 0, 1 (weight 1)   jump: forget what moves   996, 997, 998 (weight 1)   999 (weight 995)
//
// What moves (an affine slot, offset or number) is different in the iterations not shown: the listener is told to
// forget those classes at each jump and at the end of the loop, and must not conclude anything about them from silence.
// Anything irregular is unfolded as it is, up to a budget; then everything in that stretch is forgotten.
// Invariant: the weights of a shape's steps never sum up to more than its calls. Thread safety: none.
// Cost: O(folded stream) * (3P)^depth for regular loops; at most the budget for others.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analyzer/calls/call_plan.h"

namespace gt::analyzer {

struct Step {
  const CallPlan& plan;
  std::span<const int64_t> values;
  uint64_t weight;  // how many calls it stands for
};

struct ReplayListener {
  std::function<void(const Step&)> step;                        // REQUIRES: set
  std::function<void(std::span<const model::ClassId>)> forget;  // REQUIRES: set
};

constexpr uint64_t ReplayBudget = 1 << 20;  // calls of irregular stretches, and steps of regular ones

// REQUIRES: plans of this trace.
void replay(const model::Trace& trace, const model::Stream& stream, const CallPlans& plans,
            const ReplayListener& listener, uint64_t budget = ReplayBudget);

}  // namespace gt::analyzer
