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
      : x_tree(tree),
        x_plans(plans),
        x_value_counts(value_counts),
        x_machine(machine),
        x_executions(tree.size()),
        x_made(plans.size()),
        x_seen(plans.size()) {}

  void run() { nodes(0, x_tree.size()); }
  bool approximate() const { return x_approximate; }
  // Was there a call of this shape, and when did the first one return?
  bool seen(model::ShapeId shape) const { return x_seen[shape]; }
  const ReplayClock& made(model::ShapeId shape) const { return x_made[shape]; }
  uint64_t executed() const { return x_executed; }

 private:
  void nodes(size_t begin, size_t end) {
    for (size_t i = begin; i < end; i = x_tree[i].end) node(i);
  }

  void node(size_t i) {
    const model::Node& n = *x_tree[i].node;
    switch (n.kind) {
      case NodeKind::Call:
        return call(i, n);
      case NodeKind::Loop:
        return loop(i, n);
      case NodeKind::Run:
        (void)model::expand_run(n, x_value_counts, [this](model::ShapeId shape, std::span<const int64_t> row) {
          execute(shape, row);
          return true;
        });
        return;
      case NodeKind::Summary:
        (void)model::expand_summary(n, x_plans.size(), [this](model::ShapeId shape, uint64_t calls) {
          x_approximate = true;
          summary(shape, calls);
        });
        return;
    }
  }

  void execute(model::ShapeId shape, std::span<const int64_t> row) {
    ++x_executed, ++x_steps;
    x_machine.call(x_plans[shape], row);
    if (x_seen[shape]) return;
    x_seen[shape] = true;
    x_made[shape] = x_machine.host();
  }

  void call(size_t i, const model::Node& n) {
    const TimedCall& plan = x_plans[n.shape];
    x_row.resize(std::max(x_row.size(), n.values.size()));
    const uint64_t before = x_executions[i]++;
    visit_values(plan, [&](uint32_t v) { x_row[v] = x_values.at(n.values[v], x_frames, before); });
    execute(n.shape, x_row);
  }

  // What the size budget left of a stretch: so many calls, all of the same objects.
  void summary(model::ShapeId shape, uint64_t calls) {
    const std::vector<int64_t> row(static_cast<size_t>(x_value_counts[shape]), 0);
    static const LoopPeriods OneOrTwo = {{1, 2}, {}};
    repeat(calls, {}, OneOrTwo, true, [&] { execute(shape, row); });
  }

  void loop(size_t i, const model::Node& n) {
    const uint64_t entered = x_executions[i]++;
    const int64_t count = x_values.at(n.count, x_frames, entered);
    if (count <= 0) return;
    x_frames.push_back({entered, 0});
    const std::span<uint64_t> inside(x_executions.data() + i + 1, x_tree[i].end - i - 1);
    repeat(static_cast<uint64_t>(count), inside, loop_periods(i), x_tree[i].regular,
           [&] { nodes(i + 1, x_tree[i].end); });
    x_frames.pop_back();
  }

  const LoopPeriods& loop_periods(size_t i) {
    if (!x_tree[i].turns) return UsualPeriods;
    auto [at, fresh] = x_periods.try_emplace(i);
    if (fresh) at->second = x_tree.periods(i);
    return at->second;
  }

  // Of the loop that is being executed. Its memory is used again by the next loop of the same depth.
  struct Scratch {
    LoopHistory history;
    ReplayState start;
  };
  Scratch& scratch() {
    while (x_scratch.size() <= x_frames.size()) x_scratch.push_back(std::make_unique<Scratch>());
    return *x_scratch[x_frames.size()];
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
    if (in_loop) x_frames.back().counter = counter;
    const uint64_t outer = x_machine.take_trail();
    body();
    const uint64_t trail = x_machine.take_trail();
    ++x_steps;
    x_machine.set_trail(outer);
    if (trail != previous) x_machine.note(trail);
    return previous = trail;
  }

  // `body` executes one iteration. `inside`: how often each node in the loop was executed.
  template <class Body>
  void repeat(uint64_t count, std::span<uint64_t> inside, const LoopPeriods& periods, bool regular,
              const Body& body) {
    uint64_t previous = 0;
    const auto one = [&](uint64_t k) { return iterate(k, !inside.empty(), previous, body); };
    const bool spent = x_steps > MostSteps;
    if (count <= LeastIterations && !spent) {
      for (uint64_t k = 0; k < count; ++k) one(k);
      return;
    }
    auto& [history, start] = scratch();
    history.reset(periods);
    start.take(x_machine, inside, 0);
    for (uint64_t k = 0; k < count;) {
      const uint64_t trail = one(k++);
      if (k < count && (spent || (k >= LeastIterations && x_steps > MostSteps))) {
        x_approximate = true;
        return shift(x_machine, inside, start, static_cast<double>(count - k) / static_cast<double>(k));
      }
      if (!regular || count - k < 2) continue;
      history.add(x_machine, inside, trail);
      if (const auto period = history.period()) k += skip(history, *period, inside, k, count - k, one);
    }
  }

  // Executes or skips iterations from `k` on, of which there are `left`; how many.
  template <class One>
  uint64_t skip(LoopHistory& history, uint32_t period, std::span<uint64_t> inside, uint64_t k, uint64_t left,
                const One& one) {
    if (left <= 2 * uint64_t{period}) return 0;
    if (x_probing) {  // a loop around this one watches the horizon
      const uint64_t times = left / period;
      extrapolate(x_machine, inside, history.back(period), history.back(0), times);
      history.clear();
      return times * period;
    }
    x_probing = true;
    x_machine.horizon() = {};
    set_slopes(x_machine, history.back(period), history.back(0));
    ReplayState before, after;
    before.take(x_machine, inside, 0);
    for (uint32_t i = 0; i < period; ++i) one(k + i);
    after.take(x_machine, inside, 0);
    x_probing = false;
    clear_slopes(x_machine);
    history.clear();
    if (!as_predicted(before, after)) return period;
    const double most = std::min(x_machine.horizon().periods, static_cast<double>(left / period - 1));
    const auto times = static_cast<uint64_t>(most);
    extrapolate(x_machine, inside, before, after, times);
    clear_slopes(x_machine);
    return period + times * period;
  }

  const ReplayTree& x_tree;
  const std::vector<TimedCall>& x_plans;
  const std::vector<int>& x_value_counts;
  ReplayMachine& x_machine;
  std::vector<uint64_t> x_executions;
  std::vector<ReplayClock> x_made;
  std::vector<bool> x_seen;
  std::vector<LoopFrame> x_frames;
  std::vector<std::unique_ptr<Scratch>> x_scratch;  // by depth
  std::vector<int64_t> x_row;
  SeriesValues x_values;
  std::map<size_t, LoopPeriods> x_periods;
  uint64_t x_executed = 0, x_steps = 0;
  bool x_probing = false, x_approximate = false;
};

// When objects of each class were there first, by the client's clock of the thread that made them.
class Makers {
 public:
  explicit Makers(const model::Trace& trace)
      : x_trace(trace), x_first(trace.classes.size()), x_made(trace.classes.size()) {}

  void add(const Walk& walk, model::ThreadId thread) {
    for (model::ShapeId s = 0; s < x_trace.shapes.size(); ++s) {
      if (x_trace.shapes[s].thread != thread || !walk.seen(s)) continue;
      for (const model::Arg& a : x_trace.shapes[s].args) {
        if (a.effect != model::Effect::Def || a.cls >= x_made.size()) continue;
        if (x_made[a.cls] && x_first[a.cls].at <= walk.made(s).at) continue;
        x_made[a.cls] = true;
        x_first[a.cls] = walk.made(s);
      }
    }
  }

  // A thread cannot begin before another has made what it uses.
  ReplayClock start_of(model::ThreadId thread) const {
    ReplayClock out;
    for (const model::Shape& s : x_trace.shapes) {
      if (s.thread != thread) continue;
      for (const model::Arg& a : s.args) {
        const bool others = a.cls < x_made.size() && x_made[a.cls] && x_trace.classes[a.cls].thread != thread;
        if (others && x_first[a.cls].at > out.at) out = x_first[a.cls];
      }
    }
    return out;
  }

 private:
  const model::Trace& x_trace;
  std::vector<ReplayClock> x_first;
  std::vector<bool> x_made;
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
