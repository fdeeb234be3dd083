// A stream's tree of nodes as rows in pre-order, and back.
#pragma once

#include <functional>

#include "traces/store/tables.h"

namespace gt::store {

constexpr size_t MaxLoopDepth = 128;

// Calls `add` for every node of `trace`, parents before their bodies. REQUIRES: check_trace(trace)
// is ok.
Status emit_nodes(const model::Trace& trace, const std::function<Status(const NodeRow&)>& add);

// Puts rows back into the streams of a trace whose streams and shapes have been read.
class NodeTree {
 public:
  // `max_values` bounds the values that all columns together may hold. `trace` must outlive this.
  NodeTree(model::Trace& trace, uint64_t max_values) : trace_(trace), values_left_(max_values) {}

  // Rows come in the order of their ids, from 0; a run moves out of its row. Corrupt when they are no pre-order of a
  // forest; the trace is not to be used then.
  Status add(NodeRow& row);

 private:
  struct Open {
    uint32_t id;
    model::Node* node;  // stable: its siblings are complete or behind it while it is open
  };
  Status place(const NodeRow& row, std::vector<model::Node>*& siblings);
  bool fill(model::Node& node, NodeRow& row);
  bool read_series(ByteReader& in, model::Series& series);

  model::Trace& trace_;
  uint64_t values_left_;
  uint32_t next_id_ = 0;
  uint32_t stream_ = 0;
  std::vector<Open> path_;
};

}  // namespace gt::store
