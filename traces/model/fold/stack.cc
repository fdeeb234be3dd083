// The entries of the parser's stack.
#include "traces/model/fold/parser.h"

namespace gt::model {

Parser::Entry::Entry(const Entry& o)
    : symbol(o.symbol),
      values_at(o.values_at),
      loop(o.loop ? std::make_unique<Loop>(*o.loop) : nullptr),
      once(o.once),
      hash(o.hash),
      previous(o.previous),
      loop_below(o.loop_below) {}

Parser::Parser(const Parser& o)
    : grammar_(o.grammar_),
      widths_(o.widths_),
      entries_(o.entries_),
      values_(o.values_),
      frames_(o.frames_),
      last_(o.last_),
      linked_(o.linked_),
      dropped_(o.dropped_),
      hash_below_(o.hash_below_),
      effort_(o.effort_),
      unknown_(o.unknown_),
      learn_flow_at_(o.learn_flow_at_),
      left_open_(o.left_open_) {}

std::span<const int64_t> Parser::values_of(const Entry& e) const {
  return std::span(values_).subspan(e.values_at, grammar_.width(shape_of(e.symbol)));
}

void Parser::add_call() {
  Entry& e = entries_.emplace_back();
  e.symbol = shape_symbol(shape_);
  e.values_at = values_.size();
  values_.insert(values_.end(), row_.begin(), row_.end());
}

void Parser::add_loop(std::unique_ptr<Loop> loop) {
  Entry& e = entries_.emplace_back();
  e.symbol = rule_symbol(loop->rule->id);
  e.values_at = values_.size();
  e.loop = std::move(loop);
}

void Parser::add_empty_loop(RuleId rule) {
  Entry& e = entries_.emplace_back();
  e.symbol = rule_symbol(rule);
  e.values_at = values_.size();
}

void Parser::insert_empty_loop(size_t at, RuleId rule) {
  unlink_to(std::min(at, linked_));
  Entry e;
  e.symbol = rule_symbol(rule);
  e.values_at = entries_[at].values_at;
  entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at), std::move(e));
}

std::unique_ptr<Loop> Parser::new_loop(const Rule& rule) {
  if (rule.id < spare_.size() && !spare_[rule.id].empty()) {
    std::unique_ptr<Loop> loop = std::move(spare_[rule.id].back());
    spare_[rule.id].pop_back();
    effort_ += rule.total;
    return loop;
  }
  effort_ += LoopSteps * rule.total;
  return std::make_unique<Loop>(rule, grammar_);
}

void Parser::recycle(std::unique_ptr<Loop> loop) {
  constexpr size_t MaxSpare = 8;
  const RuleId id = loop->rule->id;
  if (id >= spare_.size()) spare_.resize(id + 1);
  if (spare_[id].size() >= MaxSpare) return;
  loop->count = 0;
  loop->body.reset();
  spare_[id].push_back(std::move(loop));
}

// The iteration on top joins the frame's loop. REQUIRES: it is complete (pos == body size).
void Parser::join(Frame& f) {
  if (f.has_loop) {
    take_iteration(*entries_[f.base - 1].loop, f.base, f.rule->body.size());
    pop_to(f.base);
  } else {
    learn_branch(f);
    std::unique_ptr<Loop> loop = new_loop(*f.rule);
    take_iteration(*loop, f.base, f.rule->body.size());
    pop_to(f.base);
    add_loop(std::move(loop));
    ++f.base;
    f.has_loop = true;
  }
  f.pos = 0;
}

void Parser::take_iteration(Loop& loop, size_t from, size_t n) {
  const int64_t* v = values_.data() + entries_[from].values_at;
  auto value = loop.body.values.begin();
  auto inner = loop.body.loops.begin();
  if (loop.body.loops.empty()) n = 0;  // the calls' values lie one after the other
  for (size_t i = from; i < from + n; ++i) {
    Entry& e = entries_[i];
    if (!is_rule(e.symbol)) {
      for (size_t width = grammar_.width(shape_of(e.symbol)); width > 0; --width) (value++)->append(*v++);
    } else if (e.once) {
      effort_ += AbsorbSteps * grammar_.rule(rule_of(e.symbol)).total;
      v = absorb_once(*inner++, v);
    } else if (!e.loop) {
      absorb_empty(*inner++);
    } else {
      effort_ += AbsorbSteps * e.loop->rule->total;
      absorb_entry(*inner++, loop.count, *e.loop);
      recycle(std::move(e.loop));
    }
  }
  for (; value != loop.body.values.end(); ++value) value->append(*v++);
  ++loop.count;
}

// A loop of one call runs once more: what join() and add_call() would come to.
void Parser::repeat_call(const Frame& f) {
  unlink_to(std::min(f.base, linked_));
  Loop& loop = *entries_[f.base - 1].loop;
  int64_t* v = values_.data() + entries_[f.base].values_at;
  for (size_t i = 0; i < row_.size(); ++i) {
    loop.body.values[i].append(v[i]);
    v[i] = row_[i];
  }
  ++loop.count;
}

// A loop that ran once, and whose values lie on the stack, becomes one like all others.
void Parser::give_object(size_t entry) {
  Entry& e = entries_[entry];
  const Rule& rule = grammar_.rule(rule_of(e.symbol));
  const auto values = values_.begin() + static_cast<std::ptrdiff_t>(e.values_at);
  e.loop = new_loop(rule);
  e.once = false;
  auto value = values;
  for (ValueBuilder& builder : e.loop->body.values) builder.append(*value++);
  e.loop->count = 1;
  values_.erase(values, value);
  for (size_t i = entry + 1; i < entries_.size(); ++i) entries_[i].values_at -= rule.values;
}

// What lies on the stack of an iteration that is under way is like all others, so it makes no difference that it joins
// the loop after them.
bool Parser::repeat(std::span<const PushedEvent> events, uint64_t times) {
  if (frames_.empty()) return false;
  const Frame& f = frames_.back();
  const std::vector<Symbol>& body = f.rule->body;
  const size_t n = body.size();
  if (!f.has_loop || f.rule->rules != 0 || events.empty() || events.size() % n != 0) return false;
  for (size_t i = 0; i < events.size(); ++i) {
    if (body[(f.pos + i) % n] != shape_symbol(events[i].shape)) return false;
    if (i >= n && events[i].values != events[i - n].values) return false;
  }
  Loop& loop = *entries_[f.base - 1].loop;
  const uint64_t iterations = times * (events.size() / n);
  auto builder = loop.body.values.begin();
  for (size_t item = 0; item < n; ++item) {
    for (const int64_t v : events[(item + n - f.pos % n) % n].values) (builder++)->append_again(v, iterations);
  }
  loop.count += iterations;
  return true;
}

void Parser::pop_to(size_t n) {
  if (linked_ > n) unlink_to(n);
  values_.resize(entries_[n].values_at);
  entries_.resize(n);
}

void Parser::unlink_to(size_t n) {
  while (linked_ > n) {
    const Entry& e = entries_[--linked_];
    last_[e.symbol] = e.previous;
  }
}

void Parser::link_all() {
  for (; linked_ < entries_.size(); ++linked_) {
    Entry& e = entries_[linked_];
    const auto [at, added] = last_.emplace(e.symbol, -1);
    const int64_t self = dropped_ + static_cast<int64_t>(linked_);
    e.previous = at->second;
    at->second = self;
    e.hash = extend_hash(linked_ == 0 ? hash_below_ : entries_[linked_ - 1].hash, e.symbol);
    e.loop_below = e.loop ? self : linked_ == 0 ? -1 : entries_[linked_ - 1].loop_below;
  }
}

size_t Parser::closed_entries() const {
  if (frames_.empty()) return linked_;
  return std::min(linked_, frames_[0].base - (frames_[0].has_loop ? 1 : 0));
}

void Parser::drop_bottom(size_t n) {
  if (n == 0) return;
  const uint64_t values = n < entries_.size() ? entries_[n].values_at : values_.size();
  hash_below_ = entries_[n - 1].hash;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(n));
  values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(values));
  for (Entry& e : entries_) e.values_at -= values;
  for (Frame& f : frames_) f.base -= n;
  linked_ -= n;
  dropped_ += static_cast<int64_t>(n);
}

void Parser::forget_rules() {
  Grammar fresh;
  for (ShapeId s = 0; s < widths_.size(); ++s) fresh.set_width(s, static_cast<size_t>(widths_[s]));
  grammar_ = std::move(fresh);
  spare_.clear();
  last_.clear();
}

size_t Parser::memory_bytes() const {
  size_t n = entries_.capacity() * sizeof(Entry) + values_.capacity() * sizeof(int64_t) +
             grammar_.memory_bytes();
  for (const Entry& e : entries_) n += e.loop ? e.loop->body.memory_bytes() : 0;
  return n;
}

size_t Parser::stored_bytes() const {
  constexpr size_t Row = 40, Value = 2;
  size_t n = entries_.size() * Row + values_.size() * Value;
  for (const Entry& e : entries_) n += e.loop ? e.loop->body.stored_bytes() : 0;
  return n;
}

void Parser::summarise_columns() {
  for (Entry& e : entries_) {
    if (e.loop) e.loop->body.summarise_columns();
  }
}

}  // namespace gt::model
