// Two traces side by side: what the programs did differently, and what took longer.
//
// Streams are compared thread by thread, as trees: the nodes of two lists are aligned (align.h) by keys that do not
// depend on the run: function, place in code, forms of arguments. Places count only in modules that both traces have
// in the same build; elsewhere the function alone does. Loops that differ inside are compared inside. Cost: the folded
// traces' size, not the runs' length.
#pragma once

#include <string>
#include <vector>

#include "tracer/gtrace/compare/time_change.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

struct Difference {
  enum class Kind { OnlyA, OnlyB, TripCount, Argument, Irregular };
  Kind kind = Kind::OnlyA;
  model::ThreadId thread = 0;
  bool memory = false;
  std::string number;    // of the first call, "" when it varies; in A, or in B for OnlyB
  std::string what;      // "clFinish @ app+0x12", "loop of 3 calls"
  std::string argument;  // Argument: its name
  std::string a, b;      // TripCount, Argument: the values
};
const char* difference_name(Difference::Kind kind);  // "only in A", "trip count", ...

// Alignment, trip counts, constants.
std::vector<Difference> compare_structure(const model::Trace& a, const model::Trace& b);

TimeChanges compare_times(const model::Trace& a, const model::Trace& b);

}  // namespace gt::tracer
