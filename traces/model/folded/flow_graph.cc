// Walking the folded stream: loops that always do the same twice, others as often as they ran.
#include "traces/model/folded/flow_graph.h"

#include <algorithm>
#include <unordered_set>

#include "traces/model/fold/fold.h"
#include "traces/model/series/series_cursor.h"

namespace gt::model {
namespace {

constexpr size_t MaxDepth = 64;  // of loops; damaged nodes must not exhaust the stack
constexpr FlowGraph::Place None = static_cast<FlowGraph::Place>(-1);

// A node with the reading position of its trip count.
struct Part {
  const Node* node;
  SeriesCursor count;
  std::vector<Part> body;
  bool alike = true;  // no trip count inside varies: every iteration is like the first
  FlowGraph::Place place = None, before = None;  // of a call, and of the one that it followed last time

  Part(const Node& n, size_t depth) : node(&n), count(n.count, depth) {
    if (n.kind != Node::Kind::Loop || depth > MaxDepth) return;
    body.reserve(n.body.size());
    for (const Node& b : n.body) {
      body.emplace_back(b, depth + 1);
      alike = alike && body.back().alike && (b.kind == Node::Kind::Call || b.count.kind == Series::Kind::Const);
    }
  }
};

class FlowWalk {
 public:
  explicit FlowWalk(std::span<const int> value_counts) : value_counts_(value_counts) {}

  FlowGraph run(std::span<const Node> nodes) {
    for (const Node& n : nodes) {
      if (n.kind == Node::Kind::Run) {
        walk_run(n);
      } else if (n.kind == Node::Kind::Summary) {
        walk_summary(n);
      } else {
        walk_node(n);
      }
    }
    for (const Node& n : nodes) note_values(n, 0);
    return std::move(graph_);
  }

 private:
  FlowGraph::Place place_of(ShapeId shape) {
    const auto [at, added] = places_.emplace(shape, static_cast<FlowGraph::Place>(graph_.size()));
    if (added) {
      graph_.shapes.push_back(shape);
      graph_.next.emplace_back();
      graph_.values.emplace_back();
    }
    return at->second;
  }
  void step(FlowGraph::Place from, FlowGraph::Place to) {
    if (from != None && edges_.insert(uint64_t{from} << 32 | to).second) graph_.next[from].push_back(to);
  }
  void note(FlowGraph::Place place, size_t index, int64_t value) {
    std::vector<FlowValue>& values = graph_.values[place];
    if (values.size() <= index) values.resize(index + 1);
    FlowValue& v = values[index];
    if (v.seen == FlowValue::Seen::Never) v = {FlowValue::Seen::One, value};
    if (v.value != value) v.seen = FlowValue::Seen::Several;
  }
  void note_varying(FlowGraph::Place place, size_t index) {
    note(place, index, 0);
    graph_.values[place][index].seen = FlowValue::Seen::Several;
  }

  void walk_node(const Node& n) {
    Part part(n, 0);
    counters_.clear();
    walk(part);
    if (!exhausted()) return;
    reach_all_ = true;
    walk(part);
    reach_all_ = false;
  }
  bool exhausted() const { return steps_ > MaxFlowSteps; }

  void walk(Part& part) {
    if (part.node->kind == Node::Kind::Call) {
      walk_call(part);
    } else if (part.node->kind == Node::Kind::Loop) {
      walk_loop(part);
    }
  }
  void walk_call(Part& part) {
    ++steps_;
    if (part.place == None) part.place = place_of(part.node->shape);
    if (last_ == None || part.before != last_) step(part.before = last_, part.place);
    last_ = part.place;
  }
  void walk_loop(Part& part) {
    int64_t count = 2;
    if (counters_.size() >= MaxDepth) return;
    if (!reach_all_ && !part.count.value(counters_, count)) return;
    if (part.alike) count = std::min<int64_t>(count, 2);
    counters_.push_back(0);
    begin(part.body);
    for (int64_t i = 0; i < count && (reach_all_ || !exhausted()); ++i, ++steps_) {
      counters_.back() = static_cast<uint64_t>(i);
      for (Part& b : part.body) walk(b);
    }
    counters_.pop_back();
  }
  void begin(std::vector<Part>& body) {
    for (Part& b : body) {
      (void)b.count.begin(counters_.size(), counters_);
      begin(b.body);
    }
  }

  void walk_run(const Node& n) {
    (void)expand_run(n, value_counts_, [&](ShapeId shape, std::span<const int64_t> values) {
      const FlowGraph::Place place = place_of(shape);
      step(last_, place);
      last_ = place;
      for (size_t i = 0; i < values.size(); ++i) note(place, i, values[i]);
      return true;
    });
  }
  void walk_summary(const Node& n) {
    graph_.summarised = true;
    last_ = None;
    (void)expand_summary(n, value_counts_.size(), [&](ShapeId shape, uint64_t) { (void)place_of(shape); });
  }

  void note_values(const Node& n, size_t depth) {
    if (n.kind == Node::Kind::Call) {
      const auto place = places_.find(n.shape);
      if (place == places_.end()) return;  // in a loop that never ran
      for (size_t i = 0; i < n.values.size(); ++i) {
        if (n.values[i].kind == Series::Kind::Const) {
          note(place->second, i, n.values[i].value);
        } else {
          note_varying(place->second, i);
        }
      }
    }
    if (depth > MaxDepth) return;
    for (const Node& b : n.body) note_values(b, depth + 1);
  }

  std::span<const int> value_counts_;
  FlowGraph graph_;
  std::unordered_map<ShapeId, FlowGraph::Place> places_;
  std::unordered_set<uint64_t> edges_;
  std::vector<uint64_t> counters_;
  FlowGraph::Place last_ = None;
  uint64_t steps_ = 0;
  bool reach_all_ = false;
};

}  // namespace

FlowGraph flow_graph(std::span<const Node> nodes, std::span<const int> value_counts) {
  return FlowWalk(value_counts).run(nodes);
}

}  // namespace gt::model
