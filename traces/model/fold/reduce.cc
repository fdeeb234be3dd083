// Finding loops at the top of the stack.
#include "traces/model/fold/parser.h"

namespace gt::model {

// Opens a frame whose iteration is complete, when the top of the stack makes one more iteration of
// a loop below it, or repeats what lies below it. REQUIRES: no frame is open, everything is linked.
bool Parser::reduce() { return entries_.size() > 1 && (continue_loop_below() || make_loop()); }

bool Parser::continue_loop_below() {
  const size_t top = entries_.size() - 1;
  int64_t below = entries_[top - 1].loop_below;
  for (int tries = 0; tries < MaxLoopsBelow && below >= dropped_; ++tries) {
    const auto at = static_cast<size_t>(below - dropped_);
    const Rule& rule = *entries_[at].loop->rule;
    const size_t n = top - at;
    if (rule.body.size() == n && hash_of(at + 1, top + 1) == rule.hash && spells(at + 1, rule, 0)) {
      frames_.push_back({&rule, at + 1, n, true});
      return true;
    }
    below = at == 0 ? -1 : entries_[at - 1].loop_below;
  }
  return false;
}

bool Parser::make_loop() {
  const size_t top = entries_.size() - 1;
  int64_t before = entries_[top].previous;
  for (int tries = 0; tries < MaxTries && before >= dropped_; ++tries) {
    const auto at = static_cast<size_t>(before - dropped_);
    const size_t n = top - at;
    ++effort_;
    if (n > MaxBlock || at + 1 < n) return false;  // further back is longer still
    const size_t first = at + 1 - n;
    const bool loop_of_one_loop = n == 1 && entries_[top].loop;
    if (!loop_of_one_loop && same_block(first, at + 1, n)) {
      std::vector<Symbol> body;
      for (size_t i = first; i <= at; ++i) body.push_back(entries_[i].symbol);
      if (const Rule* rule = grammar_.learn(std::move(body))) {
        fold_blocks(*rule, first);
        return true;
      }
    }
    before = entries_[at].previous;
  }
  return false;
}

// The frame's loop begins. When it also lies below, and all between the two begins as its iterations do, then it
// may be one loop, whose iterations take one branch or another.
void Parser::learn_branch(const Frame& f) {
  const RuleId loop = f.rule->id;
  const std::vector<Symbol>& body = f.rule->body;
  if (body.size() < 2 || is_rule(body.front())) return;
  size_t at = f.base;
  while (at > 0 && f.base - at < MaxBranch && entries_[at - 1].symbol != rule_symbol(loop)) --at;
  if (at == f.base || at == 0 || entries_[at - 1].symbol != rule_symbol(loop)) return;
  std::vector<Symbol> between;
  for (; at < f.base; ++at) between.push_back(entries_[at].symbol);
  grammar_.learn_branches(loop, between);
}

uint64_t Parser::hash_of(size_t from, size_t to) const {
  uint64_t power = 1, square = HashMultiplier;
  for (size_t n = to - from; n > 0; n >>= 1, square *= square) {
    if (n & 1) power *= square;
  }
  const uint64_t below = from == 0 ? hash_below_ : entries_[from - 1].hash;
  return entries_[to - 1].hash - below * power;
}

bool Parser::same_block(size_t first, size_t second, size_t n) const {
  if (n > 1 && entries_[second - 2].symbol != entries_[second + n - 2].symbol) return false;
  if (hash_of(first, second) != hash_of(second, second + n)) return false;
  for (size_t i = 0; i < n; ++i) {
    if (entries_[first + i].symbol != entries_[second + i].symbol) return false;
  }
  return true;
}

// The first of two equal blocks becomes a loop that has run once; the second stays above it, a
// complete iteration.
void Parser::fold_blocks(const Rule& rule, size_t first) {
  const size_t n = rule.body.size();
  unlink_to(first);
  std::unique_ptr<Loop> loop = new_loop(rule);
  take_iteration(*loop, first, n);
  const uint64_t values_at = entries_[first].values_at,
                 values = entries_[first + n].values_at - values_at;
  const auto value = values_.begin() + static_cast<std::ptrdiff_t>(values_at);
  values_.erase(value, value + static_cast<std::ptrdiff_t>(values));
  const auto entry = entries_.begin() + static_cast<std::ptrdiff_t>(first);
  entries_.erase(entry + 1, entry + static_cast<std::ptrdiff_t>(n));
  Entry& e = entries_[first];
  e.symbol = rule_symbol(rule.id);
  e.loop = std::move(loop);
  for (size_t i = first + 1; i < entries_.size(); ++i) entries_[i].values_at -= values;
  frames_.push_back({&rule, first + 1, n, true});
}

}  // namespace gt::model
