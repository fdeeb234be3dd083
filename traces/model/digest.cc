// The canonical description: structure and forms, nothing that grows with the run.
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

void describe(const std::vector<Node>& nodes, const std::function<uint64_t(ShapeId)>& shape_key,
              ByteWriter& out, size_t depth) {
  if (depth > MaxDepth) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    // Neighbouring runs are one irregular stretch; how it was cut depends on its length.
    if (n.kind == Node::Kind::Run && i > 0 && nodes[i - 1].kind == Node::Kind::Run) continue;
    out.u8(static_cast<uint8_t>(n.kind));
    if (n.kind == Node::Kind::Call) {
      out.fixed64(shape_key(n.shape));
      for (const Series& s : n.values) describe(s, out);
    } else if (n.kind == Node::Kind::Loop) {
      describe(n.body, shape_key, out, depth + 1);
    }
  }
  out.u8(0xff);
}

}  // namespace

void digest(const std::vector<Node>& nodes, const std::function<uint64_t(ShapeId)>& shape_key,
            ByteWriter& out) {
  describe(nodes, shape_key, out, 0);
}

}  // namespace gt::model
