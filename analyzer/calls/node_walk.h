// Every call node of the folded streams, with the loops around it. Cost: O(folded trace).
#pragma once

#include <functional>
#include <span>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct CallPlace {
  const model::Stream& stream;
  const model::Node& node;                    // a Call
  std::span<const model::Node* const> loops;  // around it, outermost first
};

// Calls in stretches that did not fold, and those left out of the trace, are passed over.
void walk_calls(const model::Trace& trace, const std::function<void(const CallPlace&)>& visit);
// Every loop, outer ones before those inside.
void walk_loops(const model::Trace& trace, const std::function<void(const model::Stream&, const model::Node&)>& visit);

// Has this slot of a call in a loop few values: does the loop name the same few objects again and again?
bool names_few(const model::Series& slot);

}  // namespace gt::analyzer
