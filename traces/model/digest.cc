// The canonical description: structure and forms, nothing that grows with the run.
#include <algorithm>
#include <unordered_map>

#include "traces/model/fold.h"

namespace gt::model {
namespace {

constexpr size_t MaxDepth = 64;

void describe(const Series& s, ByteWriter& out) {
  // A short run cannot tell a long period from no pattern, so both are one form here: values that vary.
  out.u8(static_cast<uint8_t>(s.kind == Series::Kind::Periodic ? Series::Kind::Column : s.kind));
  switch (s.kind) {
    case Series::Kind::Const:
      out.svarint(s.value);
      break;
    case Series::Kind::Affine:
      describe(*s.base, out);
      describe(*s.step, out);
      break;
    case Series::Kind::Periodic:
    case Series::Kind::Column:
      break;
  }
}

using Depths = std::unordered_map<ShapeId, size_t>;

// In how many loops each shape stands at most.
void find_depths(const std::vector<Node>& nodes, size_t depth, Depths& deepest) {
  if (depth > MaxDepth) return;
  for (const Node& n : nodes) {
    if (n.kind == Node::Kind::Call) {
      size_t& most = deepest[n.shape];
      most = std::max(most, depth);
    }
    find_depths(n.body, depth + 1, deepest);
  }
}

// The values of a call that stands in more loops elsewhere are not described: it is an iteration peeled off that loop,
// and what is peeled off the end has other numbers for each trip count.
void describe(const std::vector<Node>& nodes, const std::function<uint64_t(ShapeId)>& shape_key,
              const Depths& deepest, ByteWriter& out, size_t depth) {
  if (depth > MaxDepth) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    // Neighbouring runs are one irregular stretch; how it was cut depends on its length.
    if (n.kind == Node::Kind::Run && i > 0 && nodes[i - 1].kind == Node::Kind::Run) continue;
    out.u8(static_cast<uint8_t>(n.kind));
    if (n.kind == Node::Kind::Call) {
      out.fixed64(shape_key(n.shape));
      if (depth < deepest.at(n.shape)) continue;
      for (const Series& s : n.values) describe(s, out);
    } else if (n.kind == Node::Kind::Loop) {
      describe(n.body, shape_key, deepest, out, depth + 1);
    }
  }
  out.u8(0xff);
}

}  // namespace

void digest(const std::vector<Node>& nodes, const std::function<uint64_t(ShapeId)>& shape_key,
            ByteWriter& out) {
  Depths deepest;
  find_depths(nodes, 0, deepest);
  describe(nodes, shape_key, deepest, out, 0);
}

}  // namespace gt::model
