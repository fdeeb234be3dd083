// Trees to rows and rows to trees.
#include "traces/store/node_rows.h"

#include <algorithm>

namespace gt::store {
namespace {

using model::Node;
using model::Series;

class Emitter {
 public:
  explicit Emitter(const std::function<Status(const NodeRow&)>& add) : add_(add) {}

  Status list(const std::vector<Node>& nodes, uint32_t stream, uint32_t parent) {
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const uint32_t id = next_id_++;
      GT_TRY(add_(row_of(nodes[i], stream, parent, i)));
      GT_TRY(list(nodes[i].body, stream, id));
    }
    return {};
  }

 private:
  static NodeRow row_of(const Node& node, uint32_t stream, uint32_t parent, uint32_t ordinal) {
    NodeRow row;
    row.stream = stream;
    row.parent = parent;
    row.ordinal = ordinal;
    row.kind = node.kind;
    ByteWriter series;
    if (node.kind == Node::Kind::Call) {
      row.shape = node.shape;
      for (const Series& s : node.values) encode(series, s);
    } else if (node.count.kind == Series::Kind::Const) {
      row.has_count = true;
      row.count = node.count.value;
    } else {
      encode(series, node.count);
    }
    row.series = series.take();
    if (node.kind == Node::Kind::Run || node.kind == Node::Kind::Summary) row.run = node.run;
    return row;
  }

  const std::function<Status(const NodeRow&)>& add_;
  uint32_t next_id_ = 0;
};

uint64_t size_of(const Series& s) {
  if (s.kind == Series::Kind::Affine) return 1 + size_of(s.base()) + size_of(s.step());
  return 1 + (s.kind == Series::Kind::Periodic ? s.values().size() : 0);
}

}  // namespace

Status emit_nodes(const model::Trace& trace, const std::function<Status(const NodeRow&)>& add) {
  Emitter emitter(add);
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    GT_TRY(emitter.list(trace.streams[s].nodes, s, model::NoIndex));
  }
  return {};
}

Status NodeTree::place(const NodeRow& row, std::vector<Node>*& siblings) {
  const auto damaged = [&](const char* what) {
    return Status(Kind::Corrupt, "the trace is damaged (nodes: row " + std::to_string(next_id_) +
                                     " " + what + ")");
  };
  if (row.stream < stream_ || row.stream >= trace_.streams.size())
    return damaged("names no stream");
  if (row.stream != stream_) {
    stream_ = row.stream;
    path_.clear();
  }
  while (!path_.empty() && path_.back().id != row.parent) path_.pop_back();
  if (path_.empty() && row.parent != model::NoIndex) return damaged("has an impossible parent");
  if (path_.size() >= MaxLoopDepth) return damaged("is nested too deeply");
  siblings = path_.empty() ? &trace_.streams[stream_].nodes : &path_.back().node->body;
  if (row.ordinal != siblings->size()) return damaged("is out of order");
  return {};
}

bool NodeTree::read_series(ByteReader& in, Series& series) {
  if (!decode(in, series, values_left_)) return false;
  values_left_ -= std::min(values_left_, size_of(series));
  return true;
}

bool NodeTree::fill(Node& node, NodeRow& row) {
  ByteReader in(row.series);
  node.kind = row.kind;
  if (row.kind == Node::Kind::Call) {
    if (row.shape >= trace_.shapes.size() || row.has_count) return false;
    node.shape = row.shape;
    const auto values = static_cast<size_t>(trace_.shapes[row.shape].values());
    if (values > row.series.size()) return false;  // a series takes a byte at least
    node.values.resize(values);
    for (Series& s : node.values) {
      if (!read_series(in, s)) return false;
    }
  } else if (row.has_count) {
    node.count = Series(row.count);
  } else if (row.kind == Node::Kind::Run || row.kind == Node::Kind::Summary || !read_series(in, node.count)) {
    return false;
  }
  node.run = std::move(row.run);
  const bool packed = row.kind == Node::Kind::Run || row.kind == Node::Kind::Summary;
  return in.ok() && in.at_end() && packed == !node.run.empty();
}

Status NodeTree::add(NodeRow& row) {
  std::vector<Node>* siblings = nullptr;
  GT_TRY(place(row, siblings));
  Node& node = siblings->emplace_back();
  if (!fill(node, row)) {
    return {Kind::Corrupt,
            "the trace is damaged (nodes: row " + std::to_string(next_id_) + " is impossible)"};
  }
  if (node.kind == Node::Kind::Loop) path_.push_back({next_id_, &node});
  ++next_id_;
  return {};
}

}  // namespace gt::store
