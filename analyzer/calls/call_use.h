// Which objects the calls of a trace name, and how often, summed over the folded trace.
//
//   loop x1000 { copy(b0[0] -> b0[1]); copy(b0[1] -> b0[0]) }, folded as one copy with slots of
//   period 2, gives two uses: {b0[0], b0[1]} 1000 times and {b0[1], b0[0]} 1000 times.
// Where the slots do not repeat within a few calls, and in what the trace only counts, the class is
// known but not the slot. Thread safety: values.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct ArgUse {
  size_t arg = 0;                // into the shape's args
  model::ClassId cls = 0;        // NoIndex: a number
  std::optional<int64_t> value;  // slot, or the number; nothing: it varies
};
struct CallUse {
  model::ShapeId shape = 0;
  uint64_t times = 0;
  std::vector<ArgUse> args;  // those that are objects, memory or the number asked for, in order
};

// What to look at in the calls of a shape.
struct Wanted {
  bool objects = false;  // else nothing
  int number = -1;       // and this parameter's numbers
};

// Each combination of values once. REQUIRES: a checked trace. Cost: O(folded trace).
std::vector<CallUse> find_uses(const model::Trace& trace,
                               const std::function<Wanted(model::ShapeId)>& wanted);

}  // namespace gt::analyzer
