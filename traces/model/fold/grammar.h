// The loops that a stream has shown so far, as rules: a rule is the body of a loop, a sequence of
// symbols.
//
// A symbol is a shape or another rule, which stands for any number of times its body, none
// included. Rules are interned: equal bodies have the same id, so two loops are of one kind exactly
// when their symbols are equal. Thread safety: none; rules themselves are immutable.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::model {

using RuleId = uint32_t;
using Symbol = uint64_t;  // shape * 2, or rule * 2 + 1
inline Symbol shape_symbol(ShapeId shape) { return Symbol{shape} * 2; }
inline Symbol rule_symbol(RuleId rule) { return Symbol{rule} * 2 + 1; }
inline bool is_rule(Symbol s) { return s & 1; }
inline RuleId rule_of(Symbol s) { return static_cast<RuleId>(s >> 1); }
inline ShapeId shape_of(Symbol s) { return static_cast<ShapeId>(s >> 1); }

// Hashes of symbol sequences: hash(ab) = hash(a) * Multiplier + mix(b), so that those of stretches
// subtract.
constexpr uint64_t HashMultiplier = 0x9e3779b97f4a7c15u;
inline uint64_t extend_hash(uint64_t hash, Symbol s) {
  uint64_t x = (s + 1) * 0xbf58476d1ce4e5b9u;
  x ^= x >> 29;
  return hash * HashMultiplier + x;
}

struct Rule {
  RuleId id = 0;
  std::vector<Symbol> body;
  ShapeId first = 0;  // shape of the first call when nothing is skipped
  size_t values = 0;  // of the calls directly in the body
  size_t rules = 0;   // rules directly in the body
  size_t depth = 1;   // 1: no loop inside
  size_t total = 0;   // symbols of the body and of all bodies inside: what a loop of it costs
  uint64_t hash = 0;
};

class Grammar {
 public:
  static constexpr size_t MaxDepth = 8;
  static constexpr size_t MaxSymbols = 1 << 20;  // of all bodies
  static constexpr size_t MaxTotal = 1 << 16;    // of one rule
  static constexpr size_t MaxChoices = 4;
  static constexpr uint8_t MaxDoubts = 3;

  void set_width(ShapeId shape, size_t values) {
    if (shape >= widths_.size()) widths_.resize(shape + 1, 0);
    widths_[shape] = values;
  }
  size_t width(ShapeId shape) const { return widths_[shape]; }

  const Rule& rule(RuleId id) const { return *rules_[id]; }
  size_t size() const { return rules_.size(); }
  bool full() const { return symbols_ > MaxSymbols; }

  // The rule with this body, made when there is none, or null when it would nest too deeply or be too large. It
  // becomes the first choice for its first shape.
  const Rule* learn(std::vector<Symbol> body);
  // The same, but no choice: it stands inside others only.
  const Rule* intern(std::vector<Symbol> body);
  // These lay between two loops of a kind, and perhaps they are iterations of it that take another branch. When that
  // has happened MaxDoubts times, learns a rule for all of them, if they begin alike (merge.cc).
  void learn_branches(RuleId loop, std::span<const Symbol> iterations);
  // The body of a loop with all of its branches: the first choice, whatever is learnt later. An empty one is none.
  // `calls`: which from now on begin no loops but such.
  void learn_whole(std::vector<Symbol> body, std::span<const ShapeId> calls = {});
  // Rules to try when `shape` comes where nothing is expected, the latest first.
  const std::vector<RuleId>& choices(ShapeId shape) const;
  // May an iteration of the rule begin with this shape, loops before it skipped?
  bool begins_with(const Rule& rule, Symbol shape) const {
    const Symbol first = rule.body.front();
    return is_rule(first) ? may_begin_with(rule, shape) : first == shape;
  }

  // Does the symbol stand in the rule, or in one inside it?
  bool mentions(const Rule& rule, Symbol symbol) const;

  size_t memory_bytes() const { return symbols_ * sizeof(Symbol) + rules_.size() * sizeof(Rule); }

 private:
  bool may_begin_with(const Rule& rule, Symbol shape) const;
  const Rule& make(std::vector<Symbol> body, uint64_t hash, size_t depth);
  void prefer(const Rule& rule, ShapeId first);

  std::vector<std::shared_ptr<const Rule>> rules_;
  std::vector<uint8_t> doubts_;    // by rule: how often it was a branch, perhaps
  std::vector<bool> branches_;     // by rule: made of several; the first choice, whatever is learnt later
  std::unordered_multimap<uint64_t, RuleId> by_hash_;
  std::unordered_map<ShapeId, std::vector<RuleId>> choices_;
  std::unordered_set<ShapeId> owned_;  // calls of loops with branches
  std::vector<size_t> widths_;
  size_t symbols_ = 0;
};

}  // namespace gt::model
