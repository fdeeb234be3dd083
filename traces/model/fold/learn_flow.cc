// Learning a loop from which call follows which, where its iterations differ too much to be compared.
//
// Loops are usually learnt from two equal iterations (reduce.cc), and branches from a few that are alike (merge.cc).
// When an iteration has many conditions, or is nothing but a choice among many alternatives, no two come together for
// a long time. Then calls pile up that nothing expected, and what followed what is looked at as a whole: calls that
// lead to one another are a loop, its head is the call that comes first; what remains of it without the head are the
// steps of an iteration, in their order (as in digest.cc). Steps that others pass over become inner loops, which may
// run no times.
//
//   h c1 c3 t h c2 t h t h c1 c2 c4 t ...      loop { h; [c1]; [c2]; [c3]; [c4]; t }
//   a1 a2 c1 b1 b2 d1 c1 a1 a2 b1 b2 ...       loop { a1 a2; loop { [b1 b2]; [c1]; [d1] } }
#include <algorithm>
#include <map>

#include "traces/model/fold/components.h"
#include "traces/model/fold/parser.h"

namespace gt::model {
namespace {

using Body = std::vector<Symbol>;

// The calls of a stream, in the order of their first appearance, and what followed each.
struct Flow {
  std::vector<Symbol> symbols;
  std::vector<Vertices> next;

  explicit Flow(const std::vector<std::pair<ShapeId, ShapeId>>& follows) {
    for (const auto& [from, to] : follows) {
      const uint32_t v = vertex(from), w = vertex(to);
      next[v].push_back(w);
    }
  }

 private:
  uint32_t vertex(ShapeId shape) {
    const auto [at, added] = vertices_.emplace(shape, static_cast<uint32_t>(symbols.size()));
    if (added) {
      symbols.push_back(shape_symbol(shape));
      next.emplace_back();
    }
    return at->second;
  }
  std::map<ShapeId, uint32_t> vertices_;
};

class FlowLoop {
 public:
  FlowLoop(Grammar& grammar, const Flow& flow) : grammar_(grammar), flow_(flow), in_part_(flow.symbols.size()) {}

  std::vector<Vertices> loops() {
    Vertices all(flow_.symbols.size());
    for (uint32_t v = 0; v < all.size(); ++v) all[v] = v;
    std::vector<Vertices> out = components(flow_.next, all, in_part_);
    std::erase_if(out, [](const Vertices& p) { return p.size() < 2; });
    return out;
  }

  // The body of the loop of these calls; empty: it is too large or too deep to be one. A loop that is nothing but a
  // choice has no head: the alternative that came first is one of them.
  Body whole(const Vertices& members, uint32_t first) {
    Vertices rest = members;
    for (uint32_t at = first; std::erase(rest, at) != 0 && flow_.next[at].size() == 1;) at = flow_.next[at][0];
    const std::vector<Vertices> others = components(flow_.next, rest, in_part_);
    if (others.size() != 1 || !is_loop(others[0])) return body(members, first);
    Vertices heads = entries(members, others[0]);
    if (heads.size() < 2) return body(members, first);
    heads.insert(heads.begin(), first);
    return alternatives(members, heads);
  }

  Body body(const Vertices& members, uint32_t head, int depth = 0) {
    constexpr int MaxDepth = 5;
    if (depth > MaxDepth) return {};
    Vertices rest = members;
    std::erase(rest, head);
    const std::vector<Vertices> steps = components(flow_.next, rest, in_part_);
    std::map<uint32_t, size_t> position{{head, 0}};
    for (size_t i = 0; i < steps.size(); ++i) {
      for (const uint32_t v : steps[i]) position[v] = i + 1;
    }
    Body out{flow_.symbols[head]};
    const std::vector<bool> passed = passed_over(members, head, position, steps.size());
    for (size_t i = 0; i < steps.size(); ++i) {
      Body step = body_of_step(members, steps[i], depth);
      if (step.empty()) return {};
      const bool loop = is_loop(steps[i]);
      if (!loop && !passed[i + 1]) {
        out.push_back(step[0]);
        continue;
      }
      // A branch of several calls is one inner loop.
      while (!loop && i + 1 < steps.size() && passed[i + 2] && !is_loop(steps[i + 1]) &&
             only_leads_to(members, steps[i][0], steps[i + 1][0]))
        step.push_back(flow_.symbols[steps[++i][0]]);
      const Rule* rule = grammar_.intern(std::move(step));
      if (!rule) return {};
      out.push_back(rule_symbol(rule->id));
    }
    return out;
  }

 private:
  static constexpr size_t MostAlternatives = 16;

  bool is_loop(const Vertices& part) const {
    const Vertices& next = flow_.next[part.front()];
    return part.size() > 1 || std::find(next.begin(), next.end(), part.front()) != next.end();
  }
  // The calls by which others of the loop lead to these.
  Vertices entries(const Vertices& members, const Vertices& part) const {
    Vertices out;
    const auto in = [](const Vertices& list, uint32_t v) {
      return std::find(list.begin(), list.end(), v) != list.end();
    };
    for (const uint32_t from : members) {
      if (in(part, from)) continue;
      for (const uint32_t to : flow_.next[from]) {
        if (in(part, to) && !in(out, to)) out.push_back(to);
      }
    }
    return out;
  }
  bool only_leads_to(const Vertices& members, uint32_t from, uint32_t to) const {
    if (flow_.next[from] != Vertices{to}) return false;
    return std::count_if(members.begin(), members.end(), [&](uint32_t v) {
             return std::find(flow_.next[v].begin(), flow_.next[v].end(), to) != flow_.next[v].end();
           }) == 1;
  }
  std::vector<bool> passed_over(const Vertices& members, uint32_t head, const std::map<uint32_t, size_t>& position,
                                size_t steps) const {
    std::vector<bool> out(steps + 2);
    for (const uint32_t from : members) {
      for (const uint32_t to : flow_.next[from]) {
        const auto at = position.find(to);
        if (at == position.end()) continue;
        const size_t end = to == head ? steps + 1 : at->second;
        for (size_t i = position.at(from) + 1; i < end; ++i) out[i] = true;
      }
    }
    return out;
  }

  Body body_of_step(const Vertices& members, const Vertices& step, int depth) {
    if (!is_loop(step)) return {flow_.symbols[step[0]]};
    const Vertices heads = entries(members, step);
    if (heads.size() == 1) return body(step, heads[0], depth + 1);
    return alternatives(step, heads);
  }
  // Any order of what begins with one of the heads: an inner loop of inner loops.
  Body alternatives(const Vertices& step, const Vertices& heads) {
    Body out;
    Vertices left = step;
    if (heads.size() > MostAlternatives) return {};
    for (const uint32_t head : heads) {
      Body branch;
      for (uint32_t at = head; std::erase(left, at) != 0; at = flow_.next[at][0]) {
        branch.push_back(flow_.symbols[at]);
        const Vertices& next = flow_.next[at];
        if (next.size() != 1 || std::find(heads.begin(), heads.end(), next[0]) != heads.end()) break;
      }
      const Rule* rule = grammar_.intern(std::move(branch));
      if (!rule) return {};
      out.push_back(rule_symbol(rule->id));
    }
    return left.empty() ? out : Body{};
  }

  Grammar& grammar_;
  const Flow& flow_;
  std::vector<bool> in_part_;
};

}  // namespace

// What the open loops expect has followed before: they were learnt from it.
void Parser::note_follow() {
  constexpr size_t MostFollows = 1 << 14;  // beyond, a stream has no structure that this could find
  if (replaying_ > 0 || previous_ == NoShape || follows_.size() >= MostFollows) return;
  const uint64_t pair = uint64_t{previous_} << 32 | shape_;
  uint64_t& recent = recent_follows_[(previous_ * 31 + shape_) % recent_follows_.size()];
  if (recent == pair + 1) return;
  recent = pair + 1;
  if (known_follows_.insert(pair).second) follows_.emplace_back(previous_, shape_);
}

// Cost: that of the graph, for each level of its loops. Called ever more seldom.
void Parser::learn_flow() {
  constexpr size_t MostCalls = 128;  // in a loop
  const Flow flow(follows_);
  FlowLoop learner(grammar_, flow);
  for (const Vertices& loop : learner.loops()) {
    if (loop.size() > MostCalls) continue;
    std::vector<ShapeId> calls;
    for (const uint32_t v : loop) calls.push_back(shape_of(flow.symbols[v]));
    grammar_.learn_whole(learner.whole(loop, *std::min_element(loop.begin(), loop.end())), calls);
  }
}

}  // namespace gt::model
