// Building the list, from the leaves up.
#include "analyzer/remote/replay_tree.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace gt::analyzer {
namespace {

using Kind = model::Series::Kind;

constexpr size_t LongestPeriod = 64;

bool has(const model::Series& s, Kind kind) {
  if (s.kind == kind) return true;
  return s.kind == Kind::Affine && (has(s.base(), kind) || has(s.step(), kind));
}

// Finds what takes turns in one loop.
class TurnFinder {
 public:
  TurnFinder(const ReplayTree& tree, size_t loop) : x_tree(tree), x_loop(loop) {}

  // `i`: a node in the loop. `around`: the loops around it, up to the one looked at, which is the first.
  void look(size_t i, const std::vector<TimedCall>& plans, std::vector<size_t>& around) {
    const model::Node& n = *x_tree[i].node;
    if (n.kind == model::Node::Kind::Loop) add(n.count, i, around, around.size());
    if (n.kind == model::Node::Kind::Call)
      visit_values(plans[n.shape], [&](uint32_t value) { add(n.values[value], i, around, around.size()); });
    if (n.kind != model::Node::Kind::Loop) return;
    around.push_back(i);
    for (size_t child = i + 1; child < x_tree[i].end; child = x_tree[child].end) look(child, plans, around);
    around.pop_back();
  }

  LoopPeriods found() && {
    std::set<uint32_t> candidates(UsualPeriods.candidates.begin(), UsualPeriods.candidates.end());
    uint64_t all = 1;
    for (const LoopPeriods::Turn& t : x_turns) {
      if (t.length <= LongestPeriod) candidates.insert(t.length);
      if (all <= LongestPeriod) all = std::lcm(all, uint64_t{t.length});
    }
    if (all <= LongestPeriod) candidates.insert(static_cast<uint32_t>(all));
    return {{candidates.begin(), candidates.end()}, std::move(x_turns)};
  }

 private:
  // `by`: the node whose executions count the series' turns; `depth`: how many of `around` are around it.
  void add(const model::Series& s, size_t by, const std::vector<size_t>& around, size_t depth) {
    if (s.kind == Kind::Periodic) {
      const LoopPeriods::Turn turn{static_cast<uint32_t>(by - x_loop - 1), static_cast<uint32_t>(s.values().size())};
      if (std::ranges::find(x_turns, turn) == x_turns.end()) x_turns.push_back(turn);
    }
    // What an affine series starts from and steps by belongs to the loop around; that of the loop looked at stays.
    if (s.kind != Kind::Affine || depth <= 1) return;
    add(s.base(), around[depth - 1], around, depth - 1);
    add(s.step(), around[depth - 1], around, depth - 1);
  }

  const ReplayTree& x_tree;
  const size_t x_loop;
  std::vector<LoopPeriods::Turn> x_turns;
};

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

LoopPeriods ReplayTree::periods(size_t loop) const {
  TurnFinder finder(*this, loop);
  std::vector<size_t> around = {loop};
  for (size_t i = loop + 1; i < x_nodes[loop].end; i = x_nodes[i].end) finder.look(i, x_plans, around);
  return std::move(finder).found();
}

}  // namespace gt::analyzer
