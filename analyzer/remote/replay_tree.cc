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
  TurnFinder(const ReplayTree& tree, size_t loop) : tree_(tree), loop_(loop) {}

  // `i`: a node in the loop. `around`: the loops around it, up to the one looked at, which is the first.
  void look(size_t i, const std::vector<TimedCall>& plans, std::vector<size_t>& around) {
    const model::Node& n = *tree_[i].node;
    if (n.kind == model::Node::Kind::Loop) add(n.count, i, around, around.size());
    if (n.kind == model::Node::Kind::Call)
      visit_values(plans[n.shape], [&](uint32_t value) { add(n.values[value], i, around, around.size()); });
    if (n.kind != model::Node::Kind::Loop) return;
    around.push_back(i);
    for (size_t child = i + 1; child < tree_[i].end; child = tree_[child].end) look(child, plans, around);
    around.pop_back();
  }

  LoopPeriods found() && {
    std::set<uint32_t> candidates(UsualPeriods.candidates.begin(), UsualPeriods.candidates.end());
    uint64_t all = 1;
    for (const LoopPeriods::Turn& t : turns_) {
      if (t.length <= LongestPeriod) candidates.insert(t.length);
      if (all <= LongestPeriod) all = std::lcm(all, uint64_t{t.length});
    }
    if (all <= LongestPeriod) candidates.insert(static_cast<uint32_t>(all));
    return {{candidates.begin(), candidates.end()}, std::move(turns_)};
  }

 private:
  // `by`: the node whose executions count the series' turns; `depth`: how many of `around` are around it.
  void add(const model::Series& s, size_t by, const std::vector<size_t>& around, size_t depth) {
    if (s.kind == Kind::Periodic) {
      const LoopPeriods::Turn turn{static_cast<uint32_t>(by - loop_ - 1), static_cast<uint32_t>(s.values().size())};
      if (std::ranges::find(turns_, turn) == turns_.end()) turns_.push_back(turn);
    }
    // What an affine series starts from and steps by belongs to the loop around; that of the loop looked at stays.
    if (s.kind != Kind::Affine || depth <= 1) return;
    add(s.base(), around[depth - 1], around, depth - 1);
    add(s.step(), around[depth - 1], around, depth - 1);
  }

  const ReplayTree& tree_;
  const size_t loop_;
  std::vector<LoopPeriods::Turn> turns_;
};

}  // namespace

ReplayTree::ReplayTree(const model::Stream& stream, const std::vector<TimedCall>& plans) : plans_(plans) {
  add(stream.nodes);
}

void ReplayTree::add(const std::vector<model::Node>& nodes) {
  for (const model::Node& n : nodes) {
    const size_t at = nodes_.size();
    nodes_.push_back({&n, 0, false, true});
    add(n.body);
    nodes_[at].end = static_cast<uint32_t>(nodes_.size());
    if (n.kind == model::Node::Kind::Call) look_at_call(nodes_[at]);
    if (n.kind == model::Node::Kind::Loop) nodes_[at].turns = has(n.count, Kind::Periodic);
    for (size_t i = at + 1; i < nodes_[at].end; i = nodes_[i].end) {
      const ReplayNode& child = nodes_[i];
      const bool varies = child.node->kind == model::Node::Kind::Loop && child.node->count.kind != Kind::Const &&
                          child.node->count.kind != Kind::Periodic;
      if (!child.regular || varies) nodes_[at].regular = false;
      if (child.turns) nodes_[at].turns = true;
    }
  }
}

void ReplayTree::look_at_call(ReplayNode& node) const {
  const model::Node& call = *node.node;
  visit_values(plans_[call.shape], [&](uint32_t value) {
    if (has(call.values[value], Kind::Column)) node.regular = false;
    if (has(call.values[value], Kind::Periodic)) node.turns = true;
  });
}

LoopPeriods ReplayTree::periods(size_t loop) const {
  TurnFinder finder(*this, loop);
  std::vector<size_t> around = {loop};
  for (size_t i = loop + 1; i < nodes_[loop].end; i = nodes_[i].end) finder.look(i, plans_, around);
  return std::move(finder).found();
}

}  // namespace gt::analyzer
