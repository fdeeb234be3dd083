// The walk over the folded nodes; loops that settle are not walked to their end.
#include "analyzer/remote/link_replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "analyzer/remote/replay_loop.h"
#include "analyzer/remote/replay_tree.h"
#include "analyzer/remote/replay_values.h"
#include "traces/model/fold/fold.h"

namespace gt::analyzer {
namespace {

using NodeKind = model::Node::Kind;

// The budget of a stream: calls and iterations executed one by one. A loop entered beyond it is executed once.
constexpr uint64_t MostSteps = uint64_t{1} << 21;
constexpr uint64_t LeastIterations = 3;  // of any other loop

class Walk {
 public:
  Walk(const ReplayTree& tree, const std::vector<TimedCall>& plans, const std::vector<int>& value_counts,
       ReplayMachine& machine)
      : tree_(tree),
        plans_(plans),
        value_counts_(value_counts),
        machine_(machine),
        executions_(tree.size()),
        made_(plans.size()),
        seen_(plans.size()) {}

  void run() { nodes(0, tree_.size()); }
  bool approximate() const { return approximate_; }
  // Was there a call of this shape, and when did the first one return?
  bool seen(model::ShapeId shape) const { return seen_[shape]; }
  const ReplayClock& made(model::ShapeId shape) const { return made_[shape]; }
  uint64_t executed() const { return executed_; }

 private:
  void nodes(size_t begin, size_t end) {
    for (size_t i = begin; i < end; i = tree_[i].end) node(i);
  }

  void node(size_t i) {
    const model::Node& n = *tree_[i].node;
    switch (n.kind) {
      case NodeKind::Call:
        return call(i, n);
      case NodeKind::Loop:
        return loop(i, n);
      case NodeKind::Run:
        (void)model::expand_run(n, value_counts_, [this](model::ShapeId shape, std::span<const int64_t> row) {
          execute(shape, row);
          return true;
        });
        return;
      case NodeKind::Summary:
        (void)model::expand_summary(n, plans_.size(), [this](model::ShapeId shape, uint64_t calls) {
          approximate_ = true;
          summary(shape, calls);
        });
        return;
    }
  }

  void execute(model::ShapeId shape, std::span<const int64_t> row) {
    ++executed_, ++steps_;
    machine_.call(plans_[shape], row);
    if (seen_[shape]) return;
    seen_[shape] = true;
    made_[shape] = machine_.host();
  }

  void call(size_t i, const model::Node& n) {
    const TimedCall& plan = plans_[n.shape];
    row_.resize(std::max(row_.size(), n.values.size()));
    const uint64_t before = executions_[i]++;
    visit_values(plan, [&](uint32_t v) { row_[v] = values_.at(n.values[v], frames_, before); });
    execute(n.shape, row_);
  }

  // What the size budget left of a stretch: so many calls, all of the same objects.
  void summary(model::ShapeId shape, uint64_t calls) {
    const std::vector<int64_t> row(static_cast<size_t>(value_counts_[shape]), 0);
    static const LoopPeriods OneOrTwo = {{1, 2}, {}};
    repeat(calls, {}, OneOrTwo, true, [&] { execute(shape, row); });
  }

  void loop(size_t i, const model::Node& n) {
    const uint64_t entered = executions_[i]++;
    const int64_t count = values_.at(n.count, frames_, entered);
    if (count <= 0) return;
    frames_.push_back({entered, 0});
    const std::span<uint64_t> inside(executions_.data() + i + 1, tree_[i].end - i - 1);
    repeat(static_cast<uint64_t>(count), inside, loop_periods(i), tree_[i].regular,
           [&] { nodes(i + 1, tree_[i].end); });
    frames_.pop_back();
  }

  const LoopPeriods& loop_periods(size_t i) {
    if (!tree_[i].turns) return UsualPeriods;
    auto [at, fresh] = periods_.try_emplace(i);
    if (fresh) at->second = tree_.periods(i);
    return at->second;
  }

  // Of the loop that is being executed. Its memory is used again by the next loop of the same depth.
  struct Scratch {
    LoopHistory history;
    ReplayState start;
  };
  Scratch& scratch() {
    while (scratch_.size() <= frames_.size()) scratch_.push_back(std::make_unique<Scratch>());
    return *scratch_[frames_.size()];
  }

  // Did the probed period come out as its slopes said?
  static bool as_predicted(const ReplayState& before, const ReplayState& after) {
    if (after.shape != before.shape) return false;
    for (size_t i = 0; i < after.clocks.size(); ++i) {
      const ReplayClock& a = before.clocks[i];
      const ReplayClock& b = after.clocks[i];
      const double tolerance = 2e-3 + 1e-9 * a.slope;
      if (std::fabs(b.at - a.at - a.slope) > tolerance || std::fabs(b.slope - a.slope) > tolerance) return false;
    }
    return true;
  }

  // One iteration; gives its trail. Equal iterations in a row leave one mark in the trail of the loop around: how many
  // were executed before the loop settled does not matter there.
  template <class Body>
  uint64_t iterate(uint64_t counter, bool in_loop, uint64_t& previous, const Body& body) {
    if (in_loop) frames_.back().counter = counter;
    const uint64_t outer = machine_.take_trail();
    body();
    const uint64_t trail = machine_.take_trail();
    ++steps_;
    machine_.set_trail(outer);
    if (trail != previous) machine_.note(trail);
    return previous = trail;
  }

  // `body` executes one iteration. `inside`: how often each node in the loop was executed.
  template <class Body>
  void repeat(uint64_t count, std::span<uint64_t> inside, const LoopPeriods& periods, bool regular,
              const Body& body) {
    uint64_t previous = 0;
    const auto one = [&](uint64_t k) { return iterate(k, !inside.empty(), previous, body); };
    const bool spent = steps_ > MostSteps;
    if (count <= LeastIterations && !spent) {
      for (uint64_t k = 0; k < count; ++k) one(k);
      return;
    }
    auto& [history, start] = scratch();
    history.reset(periods);
    start.take(machine_, inside, 0);
    for (uint64_t k = 0; k < count;) {
      const uint64_t trail = one(k++);
      if (k < count && (spent || (k >= LeastIterations && steps_ > MostSteps))) {
        approximate_ = true;
        return shift(machine_, inside, start, static_cast<double>(count - k) / static_cast<double>(k));
      }
      if (!regular || count - k < 2) continue;
      history.add(machine_, inside, trail);
      if (const auto period = history.period()) k += skip(history, *period, inside, k, count - k, one);
    }
  }

  // Executes or skips iterations from `k` on, of which there are `left`; how many.
  template <class One>
  uint64_t skip(LoopHistory& history, uint32_t period, std::span<uint64_t> inside, uint64_t k, uint64_t left,
                const One& one) {
    if (left <= 2 * uint64_t{period}) return 0;
    if (probing_) {  // a loop around this one watches the horizon
      const uint64_t times = left / period;
      extrapolate(machine_, inside, history.back(period), history.back(0), times);
      history.clear();
      return times * period;
    }
    probing_ = true;
    machine_.horizon() = {};
    set_slopes(machine_, history.back(period), history.back(0));
    ReplayState before, after;
    before.take(machine_, inside, 0);
    for (uint32_t i = 0; i < period; ++i) one(k + i);
    after.take(machine_, inside, 0);
    probing_ = false;
    clear_slopes(machine_);
    history.clear();
    if (!as_predicted(before, after)) return period;
    const double most = std::min(machine_.horizon().periods, static_cast<double>(left / period - 1));
    const auto times = static_cast<uint64_t>(most);
    extrapolate(machine_, inside, before, after, times);
    clear_slopes(machine_);
    return period + times * period;
  }

  const ReplayTree& tree_;
  const std::vector<TimedCall>& plans_;
  const std::vector<int>& value_counts_;
  ReplayMachine& machine_;
  std::vector<uint64_t> executions_;
  std::vector<ReplayClock> made_;
  std::vector<bool> seen_;
  std::vector<LoopFrame> frames_;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // by depth
  std::vector<int64_t> row_;
  SeriesValues values_;
  std::map<size_t, LoopPeriods> periods_;
  uint64_t executed_ = 0, steps_ = 0;
  bool probing_ = false, approximate_ = false;
};

// When objects of each class were there first, by the client's clock of the thread that made them.
class Makers {
 public:
  explicit Makers(const model::Trace& trace)
      : trace_(trace), first_(trace.classes.size()), made_(trace.classes.size()) {}

  void add(const Walk& walk, model::ThreadId thread) {
    for (model::ShapeId s = 0; s < trace_.shapes.size(); ++s) {
      if (trace_.shapes[s].thread != thread || !walk.seen(s)) continue;
      for (const model::Arg& a : trace_.shapes[s].args) {
        if (a.effect != model::Effect::Def || a.cls >= made_.size()) continue;
        if (made_[a.cls] && first_[a.cls].at <= walk.made(s).at) continue;
        made_[a.cls] = true;
        first_[a.cls] = walk.made(s);
      }
    }
  }

  // A thread cannot begin before another has made what it uses.
  ReplayClock start_of(model::ThreadId thread) const {
    ReplayClock out;
    for (const model::Shape& s : trace_.shapes) {
      if (s.thread != thread) continue;
      for (const model::Arg& a : s.args) {
        const bool others = a.cls < made_.size() && made_[a.cls] && trace_.classes[a.cls].thread != thread;
        if (others && first_[a.cls].at > out.at) out = first_[a.cls];
      }
    }
    return out;
  }

 private:
  const model::Trace& trace_;
  std::vector<ReplayClock> first_;
  std::vector<bool> made_;
};

void add(ReplayWork& sum, const ReplayWork& w) {
  sum.up_ns += w.up_ns;
  sum.down_ns += w.down_ns;
  for (size_t i = 0; i < std::size(w.engine_ns); ++i) sum.engine_ns[i] += w.engine_ns[i];
  sum.waited_ns += w.waited_ns;
  sum.measured_ns += w.measured_ns;
  sum.waits += w.waits;
  sum.replies += w.replies;
}

// What all threads share cannot be busy for longer than the whole takes.
void bound(ReplayResult& r, size_t devices) {
  const auto at_least = [&](Term term, double ns) {
    if (ns <= r.ns) return;
    r.parts[static_cast<size_t>(term)] += ns - r.ns;
    r.ns = ns;
  };
  at_least(Term::Bandwidth, std::max(r.work.up_ns, r.work.down_ns));
  if (devices > 1) return;
  for (const double ns : r.work.engine_ns) at_least(Term::Device, ns);
}

}  // namespace

ReplayResult replay_on_link(const model::Trace& trace, const std::vector<TimedCall>& plans,
                            const model::LinkCosts* link, double wake_ns) {
  ReplayResult out;
  std::vector<int> value_counts;
  for (const model::Shape& s : trace.shapes) value_counts.push_back(s.values());
  Makers makers(trace);
  for (const model::Stream& stream : trace.streams) {
    if (stream.memory || stream.nodes.empty()) continue;
    const ReplayTree tree(stream, plans);
    ReplayMachine machine(link, wake_ns);
    machine.start_at(makers.start_of(stream.thread));
    Walk walk(tree, plans, value_counts, machine);
    walk.run();
    makers.add(walk, stream.thread);
    const ReplayClock end = machine.end();
    if (end.at > out.ns) out.ns = end.at, out.parts = end.parts;
    add(out.work, machine.work());
    out.approximate = out.approximate || walk.approximate();
    out.executed += walk.executed();
  }
  bound(out, trace.devices.size());
  return out;
}

}  // namespace gt::analyzer
