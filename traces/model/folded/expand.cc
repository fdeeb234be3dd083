// From folded nodes back to events, lazily: counts may be astronomically large, nothing is
// allocated by them.
#include <algorithm>
#include <bit>

#include "traces/model/fold/fold.h"
#include "traces/model/folded/node_reader.h"
#include "traces/model/folded/rounds.h"

namespace gt::model {
namespace {

class Expansion {
 public:
  Expansion(std::span<const int> value_counts, const EventVisitor& visit, const RoundsVisitor& rounds)
      : value_counts_(value_counts), visit_(visit), rounds_(rounds) {}

  bool node(NodeReader& r) {
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
  bool call(NodeReader& r) {
    if (!fits(r) || !r.read(counters_)) return false;
    ++events_;
    stopped_ = !visit_(r.node->shape, r.row);
    return true;
  }
  bool fits(const NodeReader& call) const {
    const ShapeId shape = call.node->shape;
    return shape < value_counts_.size() && static_cast<size_t>(value_counts_[shape]) == call.row.size();
  }

  bool loop(NodeReader& r) {
    int64_t count = 0;
    if (counters_.size() >= MaxLoopDepth || !r.values[0].value(counters_, count) || count < 0)
      return false;
    counters_.push_back(0);
    bool sound = begin(r.body, counters_.size());
    while (sound && !stopped_ && counters_.back() < static_cast<uint64_t>(count)) {
      const uint64_t before = events_;
      size_t first = 0;
      if (rounds_ && std::has_single_bit(counters_.back() + 1))
        sound = offer(r.body, static_cast<uint64_t>(count), first);
      if (counters_.back() == static_cast<uint64_t>(count)) break;
      for (size_t b = first; sound && !stopped_ && b < r.body.size(); ++b) sound = node(r.body[b]);
      // Folding makes no empty iteration; damaged counts could spin in them for ever.
      if (events_ == before) sound = false;
      ++counters_.back();
    }
    counters_.pop_back();
    return sound;
  }

  // Rounds that somebody may want to make by himself. Of the next one, `first` calls were made.
  bool offer(std::vector<NodeReader>& body, uint64_t count, size_t& first) {
    if (body.empty()) return true;
    const auto is_call = [this](const NodeReader& r) { return r.node->kind == Node::Kind::Call && fits(r); };
    if (!std::all_of(body.begin(), body.end(), is_call)) return true;
    const uint64_t before = counters_.back();
    Rounds rounds(body, counters_, count);
    stopped_ = !rounds_(rounds);
    first = rounds.within();
    events_ += (counters_.back() - before) * body.size() + first;
    return rounds.sound();
  }

  bool begin(std::vector<NodeReader>& body, size_t level) {
    for (NodeReader& r : body) {
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
      stopped_ = !visit_(shape, values);
      return !stopped_;
    });
  }

  std::span<const int> value_counts_;
  const EventVisitor& visit_;
  const RoundsVisitor& rounds_;
  std::vector<uint64_t> counters_;
  uint64_t events_ = 0;
  bool stopped_ = false;
};

}  // namespace

bool expand(std::span<const Node> nodes, std::span<const int> value_counts, const EventVisitor& visit,
            const RoundsVisitor& rounds) {
  Expansion expansion(value_counts, visit, rounds);
  for (const Node& n : nodes) {
    NodeReader reader(n, 0);
    if (!expansion.node(reader)) return false;
    if (expansion.stopped()) return true;
  }
  return true;
}

}  // namespace gt::model
