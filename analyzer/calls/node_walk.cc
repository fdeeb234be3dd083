// Recursion over folded nodes.
#include "analyzer/calls/node_walk.h"

#include <vector>

namespace gt::analyzer {
namespace {

using model::Node;

void calls(const model::Stream& stream, const std::vector<Node>& nodes, std::vector<const Node*>& loops,
           const std::function<void(const CallPlace&)>& visit) {
  for (const Node& n : nodes) {
    if (n.kind == Node::Kind::Call) visit({stream, n, loops});
    if (n.kind != Node::Kind::Loop) continue;
    loops.push_back(&n);
    calls(stream, n.body, loops, visit);
    loops.pop_back();
  }
}

void loops(const model::Stream& stream, const std::vector<Node>& nodes,
           const std::function<void(const model::Stream&, const Node&)>& visit) {
  for (const Node& n : nodes) {
    if (n.kind != Node::Kind::Loop) continue;
    visit(stream, n);
    loops(stream, n.body, visit);
  }
}

}  // namespace

void walk_calls(const model::Trace& trace, const std::function<void(const CallPlace&)>& visit) {
  std::vector<const Node*> around;
  for (const model::Stream& s : trace.streams) calls(s, s.nodes, around, visit);
}

void walk_loops(const model::Trace& trace, const std::function<void(const model::Stream&, const Node&)>& visit) {
  for (const model::Stream& s : trace.streams) loops(s, s.nodes, visit);
}

bool names_few(const model::Series& slot) {
  constexpr size_t Few = 16;
  return slot.kind == model::Series::Kind::Const ||
         (slot.kind == model::Series::Kind::Periodic && slot.values().size() <= Few);
}

}  // namespace gt::analyzer
