// A walk over the folded nodes that collects one value.
#include "analyzer/calls/call_values.h"

#include <functional>

namespace gt::analyzer {
namespace {

struct Search {
  model::ShapeId shape;
  size_t index;  // of the value in the row
  std::optional<int64_t> value;
  bool varies = false;
};

void visit(const std::vector<model::Node>& nodes, Search& s) {
  for (const model::Node& n : nodes) {
    if (s.varies) return;
    if (n.kind == model::Node::Kind::Loop) visit(n.body, s);
    if (n.kind == model::Node::Kind::Run || n.kind == model::Node::Kind::Summary) s.varies = true;
    if (n.kind != model::Node::Kind::Call || n.shape != s.shape) continue;
    const bool constant =
        s.index < n.values.size() && n.values[s.index].kind == model::Series::Kind::Const;
    if (!constant || (s.value && *s.value != n.values[s.index].value)) {
      s.varies = true;
    } else {
      s.value = n.values[s.index].value;
    }
  }
}

}  // namespace

std::optional<int64_t> constant_value(const model::Trace& trace, model::ShapeId shape,
                                      uint16_t param) {
  if (shape >= trace.shapes.size()) return std::nullopt;
  Search search{shape, 0, std::nullopt};
  bool found = false;
  for (const model::Arg& a : trace.shapes[shape].args) {
    found = a.param == param && model::value_count(a.form) == 1;
    if (found) break;
    search.index += static_cast<size_t>(model::value_count(a.form));
  }
  if (!found) return std::nullopt;
  const bool memory = trace.shapes[shape].fn >= 0x8000;
  for (const model::Stream& stream : trace.streams) {
    if (stream.thread == trace.shapes[shape].thread && stream.memory == memory) {
      visit(stream.nodes, search);
    }
  }
  return search.varies ? std::nullopt : search.value;
}

}  // namespace gt::analyzer
