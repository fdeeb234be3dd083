// Merging one loop into another, and turning loops into nodes.
#include "traces/model/fold/loop_data.h"

#include <algorithm>

namespace gt::model {
namespace {

static_assert(Grammar::MaxDepth < LoopCounts::MaxDepth);

struct InScope {
  InScope(LoopCounts& counts, const ValueBuilder& count) : counts_(counts) {
    counts.inner[counts.inner_size++] = &count;
  }
  ~InScope() { --counts_.inner_size; }
  InScope(const InScope&) = delete;
  InScope& operator=(const InScope&) = delete;
  LoopCounts& counts_;
};

// Values first, trip counts after what they govern: `own` must describe the time before this entry.
void absorb_body(LoopBody& into, size_t depth, LoopCounts& own, const LoopBody& done,
                 LoopCounts& its) {
  for (size_t i = 0; i < into.values.size(); ++i)
    into.values[i].absorb(done.values[i], depth, own, its);
  for (size_t i = 0; i < into.loops.size(); ++i) {
    InnerLoop& inner = into.loops[i];
    const InnerLoop& its_inner = done.loops[i];
    {
      const InScope a(own, inner.count), b(its, its_inner.count);
      absorb_body(inner.body, depth + 1, own, its_inner.body, its);
    }
    inner.count.absorb(its_inner.count, depth, own, its);
  }
}

void absorb_nothing(LoopBody& into, size_t depth) {
  for (ValueBuilder& value : into.values) value.absorb_none(depth);
  for (InnerLoop& inner : into.loops) {
    absorb_nothing(inner.body, depth + 1);
    inner.count.absorb_none(depth);
  }
}

void make_body(const Rule& rule, const LoopBody& body, size_t depth, const Grammar& grammar,
               std::vector<Node>& out) {
  size_t value = 0, inner = 0;
  for (const Symbol s : rule.body) {
    if (is_rule(s)) {
      const InnerLoop& loop = body.loops[inner++];
      if (loop.count.never_more_than_none()) continue;  // a rule of many branches has many that were not taken
      Node& n = out.emplace_back();
      n.kind = Node::Kind::Loop;
      n.count = loop.count.series(depth);
      make_body(grammar.rule(rule_of(s)), loop.body, depth + 1, grammar, n.body);
    } else {
      Node& n = out.emplace_back();
      n.shape = shape_of(s);
      for (size_t i = grammar.width(n.shape); i > 0; --i)
        n.values.push_back(body.values[value++].series(depth));
    }
  }
}

void drop_level(std::vector<Node>& nodes, size_t depth, size_t level) {
  for (Node& n : nodes) {
    for (Series& s : n.values) s = without_level(std::move(s), depth, level);
    if (n.kind != Node::Kind::Loop) continue;
    n.count = without_level(std::move(n.count), depth, level);
    drop_level(n.body, depth + 1, level);
  }
}

}  // namespace

LoopBody::LoopBody(const Rule& rule, const Grammar& grammar) : values(rule.values) {
  loops.reserve(rule.rules);
  for (const Symbol s : rule.body) {
    if (is_rule(s)) loops.push_back({{}, LoopBody(grammar.rule(rule_of(s)), grammar)});
  }
}

void LoopBody::reset() {
  for (ValueBuilder& v : values) v.reset();
  for (InnerLoop& l : loops) {
    l.count.reset();
    l.body.reset();
  }
}

void LoopBody::summarise_columns() {
  for (ValueBuilder& v : values) v.summarise_columns();
  for (InnerLoop& l : loops) l.body.summarise_columns();
}

size_t LoopBody::memory_bytes() const {
  size_t n = 0;
  for (const ValueBuilder& v : values) n += v.memory_bytes();
  for (const InnerLoop& l : loops) n += l.count.memory_bytes() + l.body.memory_bytes();
  return n;
}

size_t LoopBody::stored_bytes() const {
  size_t n = 0;
  for (const ValueBuilder& v : values) n += v.stored_bytes();
  for (const InnerLoop& l : loops) n += l.count.stored_bytes() + l.body.stored_bytes();
  return n;
}

void absorb_entry(InnerLoop& inner, uint64_t iterations, const Loop& done) {
  LoopCounts own, its;
  own.outermost = iterations;
  its.outermost = done.count;
  {
    const InScope a(own, inner.count);
    absorb_body(inner.body, 2, own, done.body, its);
  }
  inner.count.append(static_cast<int64_t>(done.count));
}

const int64_t* absorb_once(InnerLoop& inner, const int64_t* v) {
  for (ValueBuilder& value : inner.body.values) value.absorb_one(*v++);
  inner.count.append(1);
  return v;
}

void absorb_empty(InnerLoop& inner) {
  absorb_nothing(inner.body, 2);
  inner.count.append(0);
}

Node make_node(const Loop& loop, const Grammar& grammar) {
  Node n;
  n.kind = Node::Kind::Loop;
  n.count = Series(static_cast<int64_t>(loop.count));
  make_body(*loop.rule, loop.body, 1, grammar, n.body);
  return n;
}

void splice_single_loops(std::vector<Node>& nodes, size_t depth) {
  for (Node& n : nodes) {
    if (n.kind == Node::Kind::Loop) splice_single_loops(n.body, depth + 1);
  }
  std::erase_if(nodes, [](const Node& n) { return n.kind == Node::Kind::Loop && n.count.is_const(0); });
  const auto single = [](const Node& n) {
    return n.kind == Node::Kind::Loop && n.count.is_const(1);
  };
  if (std::none_of(nodes.begin(), nodes.end(), single)) return;
  std::vector<Node> flat;
  for (Node& n : nodes) {
    if (!single(n)) {
      flat.push_back(std::move(n));
      continue;
    }
    drop_level(n.body, depth + 1, depth + 1);
    for (Node& b : n.body) flat.push_back(std::move(b));
  }
  nodes = std::move(flat);
}

}  // namespace gt::model
