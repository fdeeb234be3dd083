// Multiplies trip counts through the tree.
#include "tracer/gtrace/base/weights.h"

#include "traces/model/fold/fold.h"

namespace gt::tracer {
namespace {

using model::Node;
using model::Series;

constexpr uint64_t LongestColumn = uint64_t{1} << 30;

class Weigher {
 public:
  std::vector<Weight> weigh(const std::vector<Node>& nodes) {
    list(nodes, 1, uint64_t{1});
    return std::move(out_);
  }

 private:
  using Number = std::optional<uint64_t>;

  // All the calls of `nodes`, of which the list itself runs `executions` times. `next`: the number
  // of the first call, moved behind the last call of the list's first execution.
  uint64_t list(const std::vector<Node>& nodes, uint64_t executions, Number next,
                Number* behind = nullptr) {
    uint64_t calls = 0;
    for (const Node& n : nodes) calls += one(n, executions, next);
    if (behind) *behind = next;
    return calls;
  }

  uint64_t one(const Node& n, uint64_t executions, Number& next) {
    const size_t here = out_.size();
    out_.push_back({executions, next});
    if (n.kind == Node::Kind::Loop) return loop(n, here, executions, next);
    if (n.kind == Node::Kind::Run || n.kind == Node::Kind::Summary) {
      out_[here].executions = executions * static_cast<uint64_t>(n.count.value);
      if (next) *next += static_cast<uint64_t>(n.count.value);
    } else if (next) {
      ++*next;
    }
    return out_[here].executions;
  }

  uint64_t loop(const Node& n, size_t here, uint64_t executions, Number& next) {
    const uint64_t iterations = total(n.count, executions);
    out_[here].executions = iterations;
    around_.push_back(&n.count);
    Number behind;
    const uint64_t calls = list(n.body, iterations, next, &behind);
    around_.pop_back();
    if (executions == 1) {
      if (next) *next += calls;  // ran once: all its calls come before what follows
    } else if (n.count.kind == Series::Kind::Const && next && behind) {
      *next += (*behind - *next) * static_cast<uint64_t>(n.count.value);
    } else {
      next.reset();
    }
    return calls;
  }

  // The sum of a trip count over all executions of its loop.
  uint64_t total(const Series& count, uint64_t executions) const {
    if (count.kind == Series::Kind::Const) return executions * static_cast<uint64_t>(count.value);
    if (count.kind == Series::Kind::Column) {
      if (count.column().size > LongestColumn) return count.column().size;  // no program made that
      uint64_t sum = 0;
      int64_t v = 0;
      model::ColumnReader reader(count.column());
      while (reader.next(v)) sum += static_cast<uint64_t>(v);
      return sum;
    }
    // The folder knows how to sum the rest: ask it about the bare loops.
    Node probe;
    probe.kind = Node::Kind::Call;
    probe.shape = 0;
    probe = wrap(std::move(probe), count);
    for (auto it = around_.rbegin(); it != around_.rend(); ++it)
      probe = wrap(std::move(probe), **it);
    std::vector<Node> nodes;
    nodes.push_back(std::move(probe));
    return model::event_count(nodes);
  }
  static Node wrap(Node inner, const Series& count) {
    Node loop;
    loop.kind = Node::Kind::Loop;
    loop.count = count;
    loop.body.push_back(std::move(inner));
    return loop;
  }

  std::vector<Weight> out_;
  std::vector<const Series*> around_;  // trip counts of the enclosing loops, outermost first
};

}  // namespace

std::vector<Weight> weigh(const std::vector<Node>& nodes) { return Weigher().weigh(nodes); }

}  // namespace gt::tracer
