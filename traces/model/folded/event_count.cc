// How many events nodes stand for, without expanding them.
#include "traces/model/folded/executions.h"
#include "traces/model/fold/fold.h"
#include "traces/model/series/series_cursor.h"

namespace gt::model {
namespace {

constexpr size_t MaxDepth = 64;
constexpr uint64_t Budget = uint64_t{1} << 28;  // steps; only damaged traces need more

uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
uint64_t at_least_zero(int64_t v) { return v < 0 ? 0 : static_cast<uint64_t>(v); }

class Counter {
 public:
  // Told of every node. Runs and summaries are not taken apart.
  using OnNode = std::function<void(const Node&, const Execution&)>;
  explicit Counter(OnNode on_node = nullptr) : on_node_(std::move(on_node)) {}

  // `executions`: of this node list. path_ holds the trip counts of the loops around it, outermost
  // first.
  uint64_t events(std::span<const Node> nodes, uint64_t executions) {
    uint64_t total = 0;
    for (const Node& n : nodes) {
      if (n.kind == Node::Kind::Loop) {
        total = plus(total, loop(n, executions));
        continue;
      }
      const bool call = n.kind == Node::Kind::Call;
      const uint64_t calls = call ? executions : times(executions, at_least_zero(n.count.value));
      tell(n, executions, calls);
      total = plus(total, calls);
    }
    return total;
  }

 private:
  void tell(const Node& n, uint64_t entered, uint64_t done) const {
    if (on_node_) on_node_(n, {path_.size(), entered, done});
  }

  uint64_t loop(const Node& n, uint64_t executions) {
    if (path_.size() >= MaxDepth) return 0;
    const uint64_t iterations = sum(n.count, executions);
    tell(n, executions, iterations);
    path_.push_back(&n.count);
    const uint64_t total = events(n.body, iterations);
    path_.pop_back();
    return total;
  }

  uint64_t sum(const Series& counts, uint64_t executions) {
    switch (counts.kind) {
      case Series::Kind::Const:
        return times(executions, at_least_zero(counts.value));
      case Series::Kind::Periodic:
        return periodic(counts.values(), executions);
      case Series::Kind::Column:
        return column(counts.column());
      case Series::Kind::Affine:
        return walk(counts);
    }
    return 0;
  }

  static uint64_t periodic(const std::vector<int64_t>& values, uint64_t executions) {
    uint64_t total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const uint64_t times_seen =
          executions / values.size() + (i < executions % values.size() ? 1 : 0);
      total = plus(total, times(times_seen, at_least_zero(values[i])));
    }
    return total;
  }
  uint64_t column(const Column& values) {
    ColumnReader reader(values);
    uint64_t total = 0;
    for (int64_t v = 0; steps_ < Budget && reader.next(v); ++steps_)
      total = plus(total, at_least_zero(v));
    return total;
  }

  // Runs the loops around, summing the trip counts of the innermost one.
  uint64_t walk(const Series& counts) {
    std::vector<SeriesCursor> cursors;
    for (size_t d = 0; d < path_.size(); ++d) cursors.emplace_back(*path_[d], d);
    cursors.emplace_back(counts, path_.size());
    std::vector<uint64_t> counters;
    return walk_level(cursors, counters);
  }
  uint64_t walk_level(std::vector<SeriesCursor>& cursors, std::vector<uint64_t>& counters) {
    const size_t level = counters.size();
    int64_t count = 0;
    if (!cursors[level].value(counters, count)) return 0;
    if (level + 1 == cursors.size()) return at_least_zero(count);
    uint64_t total = 0;
    counters.push_back(0);
    for (size_t d = level + 1; d < cursors.size(); ++d) {
      if (!cursors[d].begin(level + 1, counters)) count = 0;
    }
    for (uint64_t i = 0; i < at_least_zero(count) && ++steps_ < Budget; ++i) {
      counters.back() = i;
      total = plus(total, walk_level(cursors, counters));
    }
    counters.pop_back();
    return total;
  }

  OnNode on_node_;
  std::vector<const Series*> path_;
  uint64_t steps_ = 0;
};

}  // namespace

uint64_t event_count(std::span<const Node> nodes) { return Counter().events(nodes, 1); }

void visit_executions(std::span<const Node> nodes, const std::function<void(const Node&, const Execution&)>& visit) {
  Counter(visit).events(nodes, 1);
}

bool count_shapes(std::span<const Node> nodes, std::span<const int> value_counts, ShapeCounts& counts) {
  for (const Node& n : nodes) {
    const auto add = [&](ShapeId shape, uint64_t calls) {
      if (calls > 0) counts[shape] = plus(counts[shape], calls);
    };
    if (n.kind == Node::Kind::Summary) {
      if (!expand_summary(n, value_counts.size(), add)) return false;
    } else if (n.kind == Node::Kind::Run) {
      const auto call = [&](ShapeId shape, std::span<const int64_t>) {
        add(shape, 1);
        return true;
      };
      if (!expand_run(n, value_counts, call)) return false;
    } else {
      visit_executions({&n, 1}, [&](const Node& call, const Execution& e) {
        if (call.kind == Node::Kind::Call) add(call.shape, e.times);
      });
    }
  }
  return true;
}

}  // namespace gt::model
