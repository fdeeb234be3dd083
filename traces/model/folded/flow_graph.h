// Which call follows which: what of a folded stream is the same however it was folded, and however long it is.
//
//   loop x1000 { write; loop x{1,0,0,1,...} { checkpoint }; launch }    write > checkpoint > launch > write > launch
//
// A place is a shape that was called. The graph only grows while a stream goes on: places are numbered in the order in
// which they were first called, an edge is there once one call came right after another, a value varies once it has.
// Thread safety: values; functions are independent.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::model {

struct FlowValue {
  enum class Seen : uint8_t { Never, One, Several };
  Seen seen = Seen::Never;
  int64_t value = 0;  // One
};

struct FlowGraph {
  using Place = uint32_t;

  std::vector<ShapeId> shapes;                  // by place
  std::vector<std::vector<Place>> next;         // by place; in no order
  std::vector<std::vector<FlowValue>> values;   // by place, then as the shape's values
  bool summarised = false;                      // the oldest calls were left out, and with them how they followed

  size_t size() const { return shapes.size(); }
};

// Cost: O(nodes), and one step for each iteration of a loop around loops whose trip counts vary; after MaxFlowSteps of
// those the rest is taken to bring nothing new but what was not reached yet. Damaged nodes give some graph.
constexpr uint64_t MaxFlowSteps = 1 << 21;
FlowGraph flow_graph(std::span<const Node> nodes, std::span<const int> value_counts);

}  // namespace gt::model
