// The canonical description: structure and forms, nothing that grows with the run.
#include "traces/model/digest.h"

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
      describe(s.base(), out);
      describe(s.step(), out);
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

// Reads the calls of `shapes` from `at` on as one iteration of `body`, whose inner loops may run any number of times;
// gives where it stops fitting, or shapes.size() when the iteration merely breaks off.
size_t read_iteration(const std::vector<Node>& body, const std::vector<ShapeId>& shapes, size_t at, size_t depth) {
  if (depth > MaxDepth) return at;
  for (const Node& n : body) {
    if (at == shapes.size()) return at;
    if (n.kind == Node::Kind::Call) {
      if (n.shape != shapes[at]) return at;
      ++at;
    } else if (n.kind == Node::Kind::Loop) {
      for (size_t again; (again = read_iteration(n.body, shapes, at, depth + 1)) != at;) at = again;
    }
  }
  return at;
}

// The calls of a node, those of a loop once. False for what has no list of calls.
bool list_shapes(const Node& n, std::vector<ShapeId>& shapes, size_t depth) {
  if (depth > MaxDepth || n.kind == Node::Kind::Run || n.kind == Node::Kind::Summary) return false;
  if (n.kind == Node::Kind::Call) shapes.push_back(n.shape);
  return std::all_of(n.body.begin(), n.body.end(),
                     [&](const Node& b) { return list_shapes(b, shapes, depth + 1); });
}

// Where the nodes after the loop `at` stop reading like the beginning of one more iteration: how far the last one comes
// before something else is done depends on its trip counts.
size_t end_of_last_iteration(const std::vector<Node>& nodes, size_t at) {
  constexpr size_t Most = 4096;  // calls looked at
  std::vector<ShapeId> shapes;
  size_t end = at + 1;
  while (end < nodes.size() && shapes.size() < Most && list_shapes(nodes[end], shapes, 0) &&
         read_iteration(nodes[at].body, shapes, 0, 0) == shapes.size())
    ++end;
  return end;
}

// The values of a call that stands in more loops elsewhere are not described: it is an iteration peeled off that loop,
// and what is peeled off the end has other numbers for each trip count.
void describe(const std::vector<Node>& nodes, const std::function<uint64_t(ShapeId)>& shape_key,
              const DescribedValue& value, const Depths& deepest, ByteWriter& out, size_t depth) {
  if (depth > MaxDepth) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    // Neighbouring runs are one irregular stretch; how it was cut depends on its length.
    if (n.kind == Node::Kind::Run && i > 0 && nodes[i - 1].kind == Node::Kind::Run) continue;
    out.u8(static_cast<uint8_t>(n.kind));
    if (n.kind == Node::Kind::Call) {
      out.fixed64(shape_key(n.shape));
      if (depth < deepest.at(n.shape)) continue;
      Series scratch;
      for (size_t v = 0; v < n.values.size(); ++v) describe(value(n, v, scratch), out);
    } else if (n.kind == Node::Kind::Loop) {
      describe(n.body, shape_key, value, deepest, out, depth + 1);
      i = end_of_last_iteration(nodes, i) - 1;
    }
  }
  out.u8(0xff);
}

}  // namespace

void digest(const std::vector<Node>& nodes, const std::function<uint64_t(ShapeId)>& shape_key,
            const DescribedValue& value, ByteWriter& out) {
  Depths deepest;
  find_depths(nodes, 0, deepest);
  describe(nodes, shape_key, value, deepest, out, 0);
}

void digest(const std::vector<Node>& nodes, const std::function<uint64_t(ShapeId)>& shape_key,
            ByteWriter& out) {
  const auto itself = [](const Node& n, size_t index, Series&) -> const Series& { return n.values[index]; };
  digest(nodes, shape_key, itself, out);
}

}  // namespace gt::model
