// Learning rules and choosing among them.
#include "traces/model/fold/grammar.h"

#include <algorithm>

namespace gt::model {

const Rule* Grammar::learn(std::vector<Symbol> body) {
  const Rule* rule = intern(std::move(body));
  if (rule) prefer(*rule, rule->first);
  return rule;
}

void Grammar::learn_whole(std::vector<Symbol> body, std::span<const ShapeId> calls) {
  const Rule* rule = body.empty() ? nullptr : intern(std::move(body));
  if (!rule) return;
  for (const ShapeId shape : calls) {
    choices_.erase(shape);
    owned_.insert(shape);
  }
  branches_[rule->id] = true;
  for (const Symbol s : rule->body) {
    prefer(*rule, is_rule(s) ? this->rule(rule_of(s)).first : shape_of(s));
    if (!is_rule(s)) break;
  }
}

const Rule* Grammar::intern(std::vector<Symbol> body) {
  uint64_t hash = 0;
  size_t depth = 1, total = body.size();
  for (const Symbol s : body) {
    hash = extend_hash(hash, s);
    if (!is_rule(s)) continue;
    depth = std::max(depth, rule(rule_of(s)).depth + 1);
    total += rule(rule_of(s)).total;
  }
  if (depth > MaxDepth || total > MaxTotal) return nullptr;
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (rule(at->second).body == body) return &rule(at->second);
  }
  return &make(std::move(body), hash, depth);
}

const Rule& Grammar::make(std::vector<Symbol> body, uint64_t hash, size_t depth) {
  auto rule_made = std::make_shared<Rule>();
  Rule& r = *rule_made;
  r.id = static_cast<RuleId>(rules_.size());
  r.first = is_rule(body[0]) ? rule(rule_of(body[0])).first : shape_of(body[0]);
  for (const Symbol s : body) {
    if (is_rule(s)) ++r.rules;
    if (!is_rule(s)) r.values += width(shape_of(s));
    if (is_rule(s)) r.total += rule(rule_of(s)).total;
  }
  r.total += body.size();
  r.depth = depth;
  r.hash = hash;
  r.body = std::move(body);
  symbols_ += r.body.size();
  by_hash_.emplace(hash, r.id);
  rules_.push_back(std::move(rule_made));
  doubts_.push_back(0);
  branches_.push_back(false);
  return *rules_.back();
}

void Grammar::prefer(const Rule& rule, ShapeId first) {
  if (!branches_[rule.id] && owned_.count(first)) return;
  std::vector<RuleId>& list = choices_[first];
  list.erase(std::remove(list.begin(), list.end(), rule.id), list.end());
  const bool second = !branches_[rule.id] && !list.empty() && branches_[list.front()];
  list.insert(list.begin() + second, rule.id);
  if (list.size() > MaxChoices) list.pop_back();
}

const std::vector<RuleId>& Grammar::choices(ShapeId shape) const {
  static const std::vector<RuleId> none;
  const auto at = choices_.find(shape);
  return at == choices_.end() ? none : at->second;
}

bool Grammar::may_begin_with(const Rule& rule_asked, Symbol shape) const {
  for (const Symbol s : rule_asked.body) {
    if (!is_rule(s)) return s == shape;
    if (begins_with(rule(rule_of(s)), shape)) return true;
  }
  return false;
}

}  // namespace gt::model
