// Regular loops by evaluation of their series at chosen iterations; everything else by unfolding.
#include "analyzer/rules/replay.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "traces/model/fold/fold.h"

namespace gt::analyzer {
namespace {

using model::Node;
using model::Series;

constexpr uint64_t LongestPeriod = 24;

// The common period of the values that matter; 0 when they have none.
uint64_t common_period(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0) return 0;
  const uint64_t both = std::lcm(a, b);
  return both <= LongestPeriod ? both : 0;
}
uint64_t period_of(const Series& s) {
  switch (s.kind) {
    case Series::Kind::Const:
      return 1;
    case Series::Kind::Affine:
      return common_period(period_of(s.base()), period_of(s.step()));
    case Series::Kind::Periodic:
      return s.values().size() <= LongestPeriod ? s.values().size() : 0;
    case Series::Kind::Column:
      return 0;
  }
  return 0;
}

uint64_t period_of(const Node& n, const CallPlans& plans) {
  if (n.kind == Node::Kind::Run || n.kind == Node::Kind::Summary) return 0;
  uint64_t period = 1;
  if (n.kind == Node::Kind::Call) {
    const std::vector<bool>& matters = plans[n.shape].matters;
    for (size_t i = 0; i < n.values.size(); ++i)
      if (matters[i]) period = common_period(period, period_of(n.values[i]));
    return period;
  }
  if (n.count.kind != Series::Kind::Const) return 0;
  for (const Node& child : n.body) period = common_period(period, period_of(child, plans));
  return period;
}

// Which iterations of a loop are shown.
struct Window {
  uint64_t head = 0, resume = 0, heavy = 0, extra = 0;  // [0, head), [resume, n); from `heavy` on with weight 1 + extra

  Window(uint64_t n, uint64_t period) : head(n), resume(n), heavy(n) {
    const uint64_t settle = period + 1, tail = settle + period;
    if (n <= settle + tail + period) return;
    head = settle;
    extra = (n - settle - tail) / period;
    resume = settle + extra * period;
    heavy = n - period;
  }
  bool jumps() const { return resume > head; }
  uint64_t shown(uint64_t n) const { return head + (n - resume); }
};

uint64_t trips(const Node& loop) { return loop.count.value < 0 ? 0 : static_cast<uint64_t>(loop.count.value); }

uint64_t steps_of(const Node& n, uint64_t period) {
  if (n.kind != Node::Kind::Loop) return 1;
  uint64_t body = 0;
  for (const Node& child : n.body) body += steps_of(child, period);
  const uint64_t shown = Window(trips(n), period).shown(trips(n));
  uint64_t all = 0;
  return __builtin_mul_overflow(body, shown, &all) ? UINT64_MAX : all;
}

class Replayer {
 public:
  Replayer(const model::Trace& trace, const CallPlans& plans, const ReplayListener& listener, uint64_t budget)
      : plans_(plans), listener_(listener), left_(budget) {
    for (const model::Shape& s : trace.shapes) value_counts_.push_back(s.values());
    classes_ = trace.classes.size();
  }

  void top(const Node& n) {
    if (n.kind == Node::Kind::Summary) return forget_all();
    const uint64_t period = period_of(n, plans_);
    if (period == 0) return unfold(n);
    const uint64_t steps = steps_of(n, period);
    if (steps > left_) return forget(touched(n, false));
    left_ -= steps;
    period_ = period;
    regular(n, 1);
  }

 private:
  // --- Regular ---
  void regular(const Node& n, uint64_t weight) {
    if (n.kind == Node::Kind::Call) return call(n, weight);
    const Window window(trips(n), period_);
    const std::vector<model::ClassId> moving = window.jumps() ? touched(n, true) : std::vector<model::ClassId>();
    counters_.push_back(0);
    trips_.push_back(trips(n));
    for (uint64_t i = 0; i < trips(n); ++i) {
      if (i == window.head && window.jumps()) {
        forget(moving);
        i = window.resume;
      }
      counters_.back() = i;
      for (const Node& child : n.body) regular(child, i >= window.heavy ? weight * (1 + window.extra) : weight);
    }
    counters_.pop_back();
    trips_.pop_back();
    forget(moving);
  }

  void call(const Node& n, uint64_t weight) {
    const CallPlan& plan = plans_[n.shape];
    values_.assign(n.values.size(), model::Unkept);
    for (size_t i = 0; i < n.values.size(); ++i)
      if (plan.matters[i]) values_[i] = value(n.values[i], counters_.size());
    listener_.step({plan, values_, weight});
  }

  int64_t value(const Series& s, size_t depth) const {
    if (s.kind == Series::Kind::Const) return s.value;
    if (s.kind == Series::Kind::Affine && depth > 0) {
      const auto step = static_cast<uint64_t>(value(s.step(), depth - 1));
      const auto base = static_cast<uint64_t>(value(s.base(), depth - 1));
      return static_cast<int64_t>(base + step * counters_[depth - 1]);
    }
    if (s.kind != Series::Kind::Periodic) return model::Unkept;
    uint64_t position = 0;
    for (size_t d = 0; d < depth; ++d) position = position * trips_[d] + counters_[d];
    return s.values()[position % s.values().size()];
  }

  // --- Irregular ---
  void unfold(const Node& n) {
    bool cut = left_ == 0;
    const auto visit = [&](model::ShapeId shape, std::span<const int64_t> values) {
      if (left_ == 0) return cut = true, false;
      --left_;
      listener_.step({plans_[shape], values, 1});
      return true;
    };
    if (cut || !model::expand({&n, 1}, value_counts_, visit) || cut) forget(touched(n, false));
  }

  // --- Forgetting ---
  // The classes that the calls of a nest touch: all of them, or those of calls with a value that moves.
  std::vector<model::ClassId> touched(const Node& n, bool moving) const {
    std::set<model::ClassId> out;
    gather(n, moving, out);
    return {out.begin(), out.end()};
  }
  void gather(const Node& n, bool moving, std::set<model::ClassId>& out) const {
    for (const Node& child : n.body) gather(child, moving, out);
    if (n.kind == Node::Kind::Call) {
      if (!moving || moves(n)) gather(n.shape, out);
    } else if (n.kind == Node::Kind::Run) {
      (void)model::expand_run(n, value_counts_, [&](model::ShapeId shape, auto) { return gather(shape, out), true; });
    }
  }
  void gather(model::ShapeId shape, std::set<model::ClassId>& out) const {
    for (const Touch& t : plans_[shape].touches) out.insert(t.cls);
  }
  bool moves(const Node& call) const {
    const std::vector<bool>& matters = plans_[call.shape].matters;
    for (size_t i = 0; i < call.values.size(); ++i)
      if (matters[i] && call.values[i].kind == Series::Kind::Affine) return true;
    return false;
  }
  void forget(std::span<const model::ClassId> classes) const {
    if (!classes.empty()) listener_.forget(classes);
  }
  void forget_all() const {
    std::vector<model::ClassId> all(classes_);
    std::iota(all.begin(), all.end(), model::ClassId{0});
    forget(all);
  }

  const CallPlans& plans_;
  const ReplayListener& listener_;
  uint64_t left_;
  size_t classes_ = 0;
  uint64_t period_ = 1;
  std::vector<int> value_counts_;
  std::vector<uint64_t> counters_, trips_;  // of the loops around, outermost first
  std::vector<int64_t> values_;
};

}  // namespace

void replay(const model::Trace& trace, const model::Stream& stream, const CallPlans& plans,
            const ReplayListener& listener, uint64_t budget) {
  Replayer replayer(trace, plans, listener, budget);
  for (const Node& n : stream.nodes) replayer.top(n);
}

}  // namespace gt::analyzer
