// Merging the bodies of two loops that are one loop with a branch in it.
//
// What both have stays; what only one of them has becomes an inner loop, which an iteration may leave out. So
// `head A tail` and `head B tail` give `head A* B* tail`. The two are aligned as texts are by the shortest list of
// changes, where leaving out an inner loop is no change, and one that reads like a stretch of the other body is merged
// with that stretch.
#include <algorithm>
#include <iterator>

#include "traces/model/fold/grammar.h"

namespace gt::model {
namespace {

using Body = std::vector<Symbol>;

struct Merged {
  size_t changes = 0;
  Body body;
};

class Merge {
 public:
  Merge(Grammar& grammar, std::span<const Symbol> a, std::span<const Symbol> b)
      : grammar_(grammar), a_(a), b_(b), steps_((a.size() + 1) * (b.size() + 1)) {}

  Merged run() {
    for (size_t i = a_.size() + 1; i-- > 0;) {
      for (size_t j = b_.size() + 1; j-- > 0;) choose(i, j);
    }
    Merged out{at(0, 0).changes, {}};
    Body only_a, only_b;
    const auto flush = [&] {
      put_optional(out.body, only_a);
      put_optional(out.body, only_b);
    };
    for (size_t i = 0, j = 0; i < a_.size() || j < b_.size();) {
      const Step step = at(i, j);
      if (step.take_a && step.take_b) {
        flush();
        out.body.push_back(step.symbol);
      } else if (step.take_a) {
        if (!only_b.empty()) flush();
        only_a.push_back(a_[i]);
      } else {
        only_b.insert(only_b.end(), b_.begin() + static_cast<std::ptrdiff_t>(j),
                      b_.begin() + static_cast<std::ptrdiff_t>(j + step.take_b));
      }
      i += step.take_a;
      j += step.take_b;
    }
    flush();
    return out;
  }

 private:
  struct Step {
    size_t changes = 0;
    size_t take_a = 0, take_b = 0;  // symbols passed
    Symbol symbol = 0;              // of what both have
  };
  Step& at(size_t i, size_t j) { return steps_[i * (b_.size() + 1) + j]; }

  void choose(size_t i, size_t j) {
    Step& best = at(i, j);
    if (i == a_.size() && j == b_.size()) return;
    best.changes = static_cast<size_t>(-1);
    const auto offer = [&](size_t changes, size_t take_a, size_t take_b, Symbol symbol) {
      changes += at(i + take_a, j + take_b).changes;
      if (changes < best.changes) best = {changes, take_a, take_b, symbol};
    };
    const bool has_a = i < a_.size(), has_b = j < b_.size();
    if (has_a && has_b && a_[i] == b_[j]) offer(0, 1, 1, a_[i]);
    if (has_a && has_b && is_rule(a_[i]) && !is_rule(b_[j])) offer_inside(i, j, offer);
    if (has_a) offer(is_rule(a_[i]) ? 0 : 1, 1, 0, 0);
    if (has_b) offer(is_rule(b_[j]) ? 0 : 1, 0, 1, 0);
  }

  // The stretch of b from j on that consists of what the inner loop knows, merged with it.
  template <class Offer>
  void offer_inside(size_t i, size_t j, const Offer& offer) {
    const Rule& inner = grammar_.rule(rule_of(a_[i]));
    if (!grammar_.begins_with(inner, b_[j])) return;
    size_t end = j;
    while (end < b_.size() && grammar_.mentions(inner, b_[end])) ++end;
    const Merged merged = Merge(grammar_, inner.body, b_.subspan(j, end - j)).run();
    const Rule* rule = merged.body.size() == 1 && is_rule(merged.body[0]) ? nullptr : grammar_.intern(merged.body);
    if (rule) offer(merged.changes, 1, end - j, rule_symbol(rule->id));
  }

  // A stretch that only one side has; one of nothing but inner loops may be left out as it is.
  void put_optional(Body& out, Body& stretch) {
    const bool calls = std::any_of(stretch.begin(), stretch.end(), [](Symbol s) { return !is_rule(s); });
    const Rule* rule = calls ? grammar_.intern(stretch) : nullptr;
    if (rule) {
      out.push_back(rule_symbol(rule->id));
    } else {
      out.insert(out.end(), stretch.begin(), stretch.end());
    }
    stretch.clear();
  }

  Grammar& grammar_;
  std::span<const Symbol> a_, b_;
  std::vector<Step> steps_;
};

// Cuts symbols into what may be iterations of a loop whose body begins with this call. A loop of such iterations counts
// as one of them.
bool cut(const Grammar& grammar, Symbol first, std::span<const Symbol> symbols, std::vector<Body>& pieces,
         int depth = 0) {
  constexpr int MaxDepth = 8;
  constexpr size_t MaxPieces = 64;
  if (depth > MaxDepth) return false;
  for (const Symbol s : symbols) {
    const Rule* inner = is_rule(s) ? &grammar.rule(rule_of(s)) : nullptr;
    if (inner && grammar.mentions(*inner, first)) {
      if (!cut(grammar, first, inner->body, pieces, depth + 1)) return false;
      continue;
    }
    if (s == first) pieces.emplace_back();
    if (pieces.size() > MaxPieces) return false;
    pieces.back().push_back(s);
  }
  return true;
}

// What one iteration does once, another does not do twice: then these are no iterations, but cut where a branch begins
// that some leave out.
bool does_more_often(const Body& piece, const Body& body) {
  const auto times = [](const Body& b, Symbol s) {
    return std::max<std::ptrdiff_t>(std::count(b.begin(), b.end(), s), 1);
  };
  return std::any_of(piece.begin(), piece.end(), [&](Symbol s) { return times(piece, s) > times(body, s); });
}

}  // namespace

void Grammar::learn_branches(RuleId loop, std::span<const Symbol> iterations) {
  constexpr size_t MaxBody = 256;
  if (++doubts_[loop] < MaxDoubts) return;
  doubts_[loop] = 0;
  Body body = rule(loop).body;
  // What comes before the first of them goes on with the last iteration of the loop below.
  std::vector<Body> pieces(1);
  std::copy_if(body.begin(), body.end(), std::back_inserter(pieces[0]), [](Symbol s) { return !is_rule(s); });
  if (!cut(*this, body.front(), iterations, pieces)) return;
  for (const Body& piece : pieces) {
    if (does_more_often(piece, body)) return;
    body = Merge(*this, body, piece).run().body;
    if (body.size() > MaxBody) return;
  }
  learn_whole(std::move(body));
}

bool Grammar::mentions(const Rule& rule_asked, Symbol symbol) const {
  return std::any_of(rule_asked.body.begin(), rule_asked.body.end(), [&](Symbol s) {
    return s == symbol || (is_rule(s) && mentions(rule(rule_of(s)), symbol));
  });
}

}  // namespace gt::model
