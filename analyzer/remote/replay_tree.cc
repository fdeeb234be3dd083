// Building the list, from the leaves up.
#include "analyzer/remote/replay_tree.h"

#include <algorithm>
#include <set>

namespace gt::analyzer {
namespace {

using Kind = model::Series::Kind;

constexpr size_t LongestPeriod = 64;

bool has(const model::Series& s, Kind kind) {
  if (s.kind == kind) return true;
  return s.kind == Kind::Affine && (has(s.base(), kind) || has(s.step(), kind));
}

void add_periods(const model::Series& s, std::set<uint32_t>& out) {
  if (s.kind == Kind::Periodic && s.values().size() <= LongestPeriod)
    out.insert(static_cast<uint32_t>(s.values().size()));
  if (s.kind != Kind::Affine) return;
  add_periods(s.base(), out);
  add_periods(s.step(), out);
}

}  // namespace

ReplayTree::ReplayTree(const model::Stream& stream, const std::vector<TimedCall>& plans) : x_plans(plans) {
  add(stream.nodes);
}

void ReplayTree::add(const std::vector<model::Node>& nodes) {
  for (const model::Node& n : nodes) {
    const size_t at = x_nodes.size();
    x_nodes.push_back({&n, 0, false, true});
    add(n.body);
    x_nodes[at].end = static_cast<uint32_t>(x_nodes.size());
    if (n.kind == model::Node::Kind::Call) look_at_call(x_nodes[at]);
    if (n.kind == model::Node::Kind::Loop) x_nodes[at].turns = has(n.count, Kind::Periodic);
    for (size_t i = at + 1; i < x_nodes[at].end; i = x_nodes[i].end) {
      const ReplayNode& child = x_nodes[i];
      const bool varies = child.node->kind == model::Node::Kind::Loop && child.node->count.kind != Kind::Const &&
                          child.node->count.kind != Kind::Periodic;
      if (!child.regular || varies) x_nodes[at].regular = false;
      if (child.turns) x_nodes[at].turns = true;
    }
  }
}

void ReplayTree::look_at_call(ReplayNode& node) const {
  const model::Node& call = *node.node;
  visit_values(x_plans[call.shape], [&](uint32_t value) {
    if (has(call.values[value], Kind::Column)) node.regular = false;
    if (has(call.values[value], Kind::Periodic)) node.turns = true;
  });
}

std::vector<uint32_t> ReplayTree::periods(size_t loop) const {
  std::set<uint32_t> out(UsualPeriods.begin(), UsualPeriods.end());
  for (size_t i = loop + 1; i < x_nodes[loop].end; ++i) {
    const model::Node& n = *x_nodes[i].node;
    if (n.kind == model::Node::Kind::Loop) add_periods(n.count, out);
    if (n.kind != model::Node::Kind::Call) continue;
    visit_values(x_plans[n.shape], [&](uint32_t value) { add_periods(n.values[value], out); });
  }
  return {out.begin(), out.end()};
}

}  // namespace gt::analyzer
