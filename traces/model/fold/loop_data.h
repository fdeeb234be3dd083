// What a loop has done: its trip count and a builder for every value in its body.
//
// A Loop lies on the stack of the parse and counts its own iterations. When it turns out to be part
// of an iteration of an outer loop, everything that it knows becomes one more entry in the outer
// loop's InnerLoop. Invariant: LoopBody has rule.values builders and rule.rules inner loops, in the
// order of the rule's body. Thread safety: none.
#pragma once

#include "traces/model/fold/grammar.h"
#include "traces/model/series/value_builder.h"

namespace gt::model {

struct InnerLoop;

struct LoopBody {
  std::vector<ValueBuilder> values;
  std::vector<InnerLoop> loops;

  LoopBody() = default;
  LoopBody(const Rule& rule, const Grammar& grammar);
  void reset();
  void summarise_columns();  // of values; trip counts stay
  size_t memory_bytes() const;
  size_t stored_bytes() const;  // in a file, about
};

struct InnerLoop {
  ValueBuilder count;
  LoopBody body;
};

struct Loop {
  const Rule* rule;
  uint64_t count = 0;
  LoopBody body;

  Loop(const Rule& r, const Grammar& grammar) : rule(&r), body(r, grammar) {}
};

// `inner`, at depth 1 of the loop that has run `iterations` times, was entered once more and did
// what `done` says.
void absorb_entry(InnerLoop& inner, uint64_t iterations, const Loop& done);
// The same, where it ran once and has no loops inside. Its values begin at `v`; gives where they end.
const int64_t* absorb_once(InnerLoop& inner, const int64_t* v);
// The same, where it ran no times.
void absorb_empty(InnerLoop& inner);

Node make_node(const Loop& loop, const Grammar& grammar);

// Loops that always run exactly once become their bodies; those that never run go.
void splice_single_loops(std::vector<Node>& nodes, size_t depth = 0);

}  // namespace gt::model
