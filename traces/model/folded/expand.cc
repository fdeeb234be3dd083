// From folded nodes back to events, lazily: counts may be astronomically large, nothing is
// allocated by them.
#include "traces/model/fold/fold.h"
#include "traces/model/series/series_cursor.h"

namespace gt::model {
namespace {

constexpr size_t MaxDepth = 64;  // of loops; damaged nodes must not exhaust the stack

// A node with the reading positions of its series.
struct Reader {
  const Node* node = nullptr;
  std::vector<SeriesCursor> values;  // Call: those of its values that vary. Loop, Run: the count
  std::vector<size_t> places;        // Call: of those, in the row
  std::vector<int64_t> row;          // Call: the last one's; the others stand in it once and for all
  std::vector<Reader> body;

  Reader(const Node& n, size_t depth) : node(&n) {
    if (n.kind == Node::Kind::Call) {
      row.resize(n.values.size());
      for (size_t i = 0; i < row.size(); ++i) {
        const Series& s = n.values[i];
        row[i] = s.value;
        if (s.kind == Series::Kind::Const) continue;
        values.emplace_back(s, depth);
        places.push_back(i);
      }
    } else {
      values.emplace_back(n.count, depth);
    }
    if (n.kind != Node::Kind::Loop || depth > MaxDepth) return;
    body.reserve(n.body.size());
    for (const Node& b : n.body) body.emplace_back(b, depth + 1);
  }
};

class Expansion {
 public:
  Expansion(std::span<const int> value_counts, const NodeVisitor& visit)
      : value_counts_(value_counts), visit_(visit) {}

  bool node(Reader& r) {
    switch (r.node->kind) {
      case Node::Kind::Call:
        return call(r);
      case Node::Kind::Loop:
        return loop(r);
      case Node::Kind::Run:
        return run(*r.node);
      case Node::Kind::Summary:  // its calls are gone
        return true;
    }
    return false;
  }
  bool stopped() const { return stopped_; }

 private:
  bool call(Reader& r) {
    const ShapeId shape = r.node->shape;
    if (shape >= value_counts_.size() ||
        static_cast<size_t>(value_counts_[shape]) != r.row.size())
      return false;
    for (size_t i = 0; i < r.values.size(); ++i) {
      if (!r.values[i].value(counters_, r.row[r.places[i]])) return false;
    }
    ++events_;
    stopped_ = !visit_(r.node, shape, r.row);
    return true;
  }

  bool loop(Reader& r) {
    int64_t count = 0;
    if (counters_.size() >= MaxDepth || !r.values[0].value(counters_, count) || count < 0)
      return false;
    counters_.push_back(0);
    const size_t level = counters_.size();
    bool sound = begin(r.body, level);
    for (uint64_t i = 0; sound && !stopped_ && i < static_cast<uint64_t>(count); ++i) {
      counters_[level - 1] = i;
      const uint64_t before = events_;
      for (size_t b = 0; sound && !stopped_ && b < r.body.size(); ++b) sound = node(r.body[b]);
      // Folding makes no empty iteration; damaged counts could spin in them for ever.
      if (events_ == before) sound = false;
    }
    counters_.pop_back();
    return sound;
  }

  bool begin(std::vector<Reader>& body, size_t level) {
    for (Reader& r : body) {
      for (SeriesCursor& v : r.values) {
        if (!v.begin(level, counters_)) return false;
      }
      if (!begin(r.body, level)) return false;
    }
    return true;
  }

  bool run(const Node& n) {
    if (!counters_.empty()) return false;  // what is inside a loop has folded
    return expand_run(n, value_counts_, [&](ShapeId shape, std::span<const int64_t> values) {
      stopped_ = !visit_(nullptr, shape, values);
      return !stopped_;
    });
  }

  std::span<const int> value_counts_;
  const NodeVisitor& visit_;
  std::vector<uint64_t> counters_;
  uint64_t events_ = 0;
  bool stopped_ = false;
};

}  // namespace

bool expand_nodes(std::span<const Node> nodes, std::span<const int> value_counts, const NodeVisitor& visit) {
  Expansion expansion(value_counts, visit);
  for (const Node& n : nodes) {
    Reader reader(n, 0);
    if (!expansion.node(reader)) return false;
    if (expansion.stopped()) return true;
  }
  return true;
}

bool expand(std::span<const Node> nodes, std::span<const int> value_counts, const EventVisitor& visit) {
  return expand_nodes(nodes, value_counts, [&](const Node*, ShapeId shape, std::span<const int64_t> values) {
    return visit(shape, values);
  });
}

}  // namespace gt::model
