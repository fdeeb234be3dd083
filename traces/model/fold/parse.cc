// What to do with an event: continue an open loop, leave it, or begin another.
#include "traces/model/fold/parser.h"

#include <algorithm>

namespace gt::model {

void Parser::push_unexpected(Symbol symbol) {
  see_width(shape_, row_.size());
  failed_from_ = Nothing;
  ++effort_;
  note_follow();
  if (!frames_.empty() && accept(symbol)) return;
  if (failed_from_ != Nothing && replay()) return;
  // Landmark: nothing is open; the top of the stack may make a loop complete that goes on with this
  // event.
  link_all();
  while (!left_open_ && reduce()) {
    if (accept(symbol)) return;
    link_all();
  }
  left_open_ = false;
  if (++unknown_ == learn_flow_at_) {
    learn_flow();
    learn_flow_at_ += std::max(FirstFlow, unknown_ / 16);
  }
  if (guess(symbol)) return;
  add_call();
  link_all();
  reduce();
}

// The first item from `from` on that can begin with `symbol`, inner loops before it being skipped;
// End when all items may be skipped; Nothing when a call is expected that this is not.
size_t Parser::find(const Rule& rule, size_t from, Symbol symbol) const {
  for (size_t i = from; i < rule.body.size(); ++i) {
    const Symbol item = rule.body[i];
    if (!is_rule(item)) return item == symbol ? i : Nothing;
    if (grammar_.begins_with(grammar_.rule(rule_of(item)), symbol)) return i;
  }
  return End;
}

// Tries the open loops from the innermost outwards: further in this iteration, one more iteration,
// or done with it. False when no frame is open any more.
bool Parser::accept(Symbol symbol) {
  for (size_t i = frames_.size(); i-- > 0;) {
    const bool innermost = i + 1 == frames_.size();
    const Rule& rule = *frames_[i].rule;
    effort_ += rule.body.size() / 4;
    const size_t in_this = find(rule, frames_[i].pos + (innermost ? 0 : 1), symbol);
    if (in_this == Nothing) {
      close_inner(i);
      return resume(i, symbol);
    }
    if (in_this != End) {
      close_inner(i);
      skip_to(frames_[i], in_this);
      enter(symbol);
      return true;
    }
    const size_t in_next = find(rule, 0, symbol);
    if (in_next < rule.body.size()) {
      close_inner(i);
      skip_to(frames_[i], rule.body.size());
      join(frames_[i]);
      skip_to(frames_[i], in_next);
      enter(symbol);
      return true;
    }
    // The last call of the body comes again: perhaps the body ends in a loop that ran once so far.
    // Decided by what the stack will show, so the iteration stays on it.
    if (i == 0 && innermost && rule.body.size() > 1 && rule.body.back() == symbol) {
      abandon(frames_[0].base);
      left_open_ = true;
      return false;
    }
  }
  close_inner(0);
  Frame& f = frames_[0];
  // A guess whose only iteration lacks inner loops at its end explains little: its entries stay
  // single.
  if (f.has_loop || f.pos == f.rule->body.size()) {
    skip_to(f, f.rule->body.size());
    join(f);
    frames_.clear();
  } else {
    abandon(f.base);
    failed_from_ = Nothing;  // every entry fitted: nothing to parse again
  }
  return false;
}

// Ends the frames inside `frame`. REQUIRES: each can skip to the end of its body.
void Parser::close_inner(size_t frame) {
  while (frames_.size() > frame + 1) {
    close_loop(frames_.back());
    frames_.pop_back();
    ++frames_.back().pos;
  }
}

// The loop of an inner frame is over. One that ran once, as many do, leaves its values on the stack.
void Parser::close_loop(Frame& f) {
  skip_to(f, f.rule->body.size());
  if (f.has_loop || f.rule->rules != 0) return join(f);
  learn_branch(f);
  unlink_to(std::min(f.base, linked_));
  entries_.resize(f.base + 1);
  entries_[f.base].symbol = rule_symbol(f.rule->id);
  entries_[f.base].once = true;
}

// REQUIRES: the items up to `pos` are inner loops. They did not run this time.
void Parser::skip_to(Frame& f, size_t pos) {
  for (; f.pos < pos; ++f.pos) add_empty_loop(rule_of(f.rule->body[f.pos]));
}

// REQUIRES: the item at pos of the innermost frame begins with `symbol`.
void Parser::enter(Symbol symbol) {
  for (;;) {
    const Symbol item = frames_.back().rule->body[frames_.back().pos];
    if (!is_rule(item)) break;
    frames_.push_back({&grammar_.rule(rule_of(item)), entries_.size(), 0, false});
    skip_to(frames_.back(), find(*frames_.back().rule, 0, symbol));
  }
  add_call();
  ++frames_.back().pos;
}

// Do the entries from `from_entry` to the top spell the body of `rule` from `from_item` on?
bool Parser::spells(size_t from_entry, const Rule& rule, size_t from_item) const {
  const size_t n = entries_.size() - from_entry;
  if (n > rule.body.size() - from_item) return false;
  for (size_t i = 0; i < n; ++i) {
    if (entries_[from_entry + i].symbol != rule.body[from_item + i]) return false;
  }
  return true;
}

// Frame `frame` expected something else in the middle of its iteration. Perhaps that was no
// iteration of its loop, and a loop further out, or another rule, explains the same entries.
bool Parser::resume(size_t frame, Symbol symbol) {
  for (size_t i = frame + 1; i-- > 0;) {
    const Frame failed = frames_[i];
    frames_.resize(i);
    if (i > 0 && resume_outside(frames_[i - 1], failed, symbol)) return accept(symbol);
    if (i == 0 && !failed.has_loop && resume_as_other_rule(failed, symbol)) return accept(symbol);
    if (i == 0) abandon(failed.base);
  }
  return false;
}

// Closes all frames. The entries from `from` on stay single; loops that never ran leave no trace
// among them, since blocks of nothing else would fold into loops of empty iterations.
void Parser::abandon(size_t from) {
  frames_.clear();
  failed_from_ = from;
  size_t kept = from;
  for (size_t i = entries_.size(); i-- > from;) {
    if (entries_[i].once) give_object(i);
  }
  for (size_t i = from; i < entries_.size(); ++i) {
    if (is_rule(entries_[i].symbol) && !entries_[i].loop) {
      unlink_to(std::min(linked_, kept));
    } else {
      if (kept != i) entries_[kept] = std::move(entries_[i]);
      ++kept;
    }
  }
  entries_.resize(kept);
}

// The calls of an iteration that was none stand alone, but those after its first may begin other
// loops: they are parsed again, and then the event that did not fit.
bool Parser::replay() {
  size_t from = entries_.size();
  while (from > failed_from_ && !entries_[from - 1].loop) --from;
  const bool first_stays = from == failed_from_;
  const size_t n = entries_.size() - from;
  if (n == 0 || n > MaxReplay || replaying_ >= MaxReplayDepth) return false;
  if (first_stays && n == 1) return false;
  struct Call {
    ShapeId shape;
    std::vector<int64_t> values;
  };
  std::vector<Call> calls;
  for (size_t i = from; i < entries_.size(); ++i) {
    const auto values = values_of(entries_[i]);
    calls.push_back({shape_of(entries_[i].symbol), {values.begin(), values.end()}});
  }
  calls.push_back({shape_, {row_.begin(), row_.end()}});
  pop_to(from);
  left_open_ = false;
  ++replaying_;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i > 0 || !first_stays) {
      push(calls[i].shape, calls[i].values);
      continue;
    }
    shape_ = calls[i].shape;
    row_ = calls[i].values;
    add_call();
    link_all();
    reduce();
  }
  --replaying_;
  return true;
}

// Are the entries of `failed` what follows its loop in the iteration of `outer`, and may `symbol`
// come after them?
bool Parser::resume_outside(Frame& outer, const Frame& failed, Symbol symbol) {
  const size_t next = outer.pos + 1, n = entries_.size() - failed.base;
  if (next > outer.rule->body.size() || !spells(failed.base, *outer.rule, next)) return false;
  if (find(*outer.rule, next + n, symbol) == Nothing) return false;
  if (!failed.has_loop) insert_empty_loop(failed.base, failed.rule->id);
  outer.pos = next + n;
  return true;
}

bool Parser::resume_as_other_rule(const Frame& failed, Symbol symbol) {
  const size_t n = entries_.size() - failed.base;
  for (const RuleId id : grammar_.choices(failed.rule->first)) {
    const Rule& rule = grammar_.rule(id);
    if (&rule == failed.rule || !spells(failed.base, rule, 0)) continue;
    if (find(rule, n, symbol) == Nothing) continue;
    frames_.push_back({&rule, failed.base, n, false});
    return true;
  }
  return false;
}

// Nothing is open: does a known loop begin like this?
bool Parser::guess(Symbol symbol) {
  const std::vector<RuleId>& choices = grammar_.choices(shape_of(symbol));
  if (choices.empty()) return false;
  const Rule& rule = grammar_.rule(choices.front());
  frames_.push_back({&rule, entries_.size(), 0, false});
  skip_to(frames_.back(), find(rule, 0, symbol));
  enter(symbol);
  return true;
}

void Parser::finish() {
  left_open_ = false;
  do {
    while (!frames_.empty()) {
      Frame& f = frames_.back();
      if (find(*f.rule, f.pos, static_cast<Symbol>(-2)) != End) break;
      skip_to(f, f.rule->body.size());
      join(f);
      frames_.pop_back();
      if (!frames_.empty()) ++frames_.back().pos;
    }
    if (!frames_.empty()) abandon(frames_[0].base);
    link_all();
  } while (reduce());
}

}  // namespace gt::model
