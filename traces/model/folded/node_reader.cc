// Where the values of a node that vary stand, found once.
#include "traces/model/folded/node_reader.h"

namespace gt::model {

NodeReader::NodeReader(const Node& n, size_t depth) : node(&n) {
  if (n.kind == Node::Kind::Call) {
    row.resize(n.values.size());
    for (size_t i = 0; i < row.size(); ++i) {
      const Series& s = n.values[i];
      row[i] = s.value;
      if (s.kind == Series::Kind::Const) continue;
      values.emplace_back(s, depth);
      places.push_back(i);
    }
  } else {
    values.emplace_back(n.count, depth);
  }
  if (n.kind != Node::Kind::Loop || depth > MaxLoopDepth) return;
  body.reserve(n.body.size());
  for (const Node& b : n.body) body.emplace_back(b, depth + 1);
}

}  // namespace gt::model
