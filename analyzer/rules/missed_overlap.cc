// Rule: a loop whose transfers and kernels could run at the same time, but share one queue that keeps their order.
//
// The host must not depend on a result of one iteration for the data of the next: then nothing in the loop waits for a
// result. A loop that waits is passed over, whatever the host really does with what it gets.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/calls/node_walk.h"
#include "analyzer/calls/queues.h"
#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"
#include "traces/model/fold/fold.h"

namespace gt::analyzer {
namespace {

constexpr int64_t LeastIterations = 8;

struct LoopTimes {
  double transfer_ns = 0, kernel_ns = 0;
  bool waits = false, receives = false, blocks_sending = false, timed = true, other = false;
  std::vector<model::ShapeId> calls;
  // Nothing that the host could learn in the loop.
  bool free() const { return !waits && !(receives && blocks_sending) && timed && !other; }
};

void add_call(const Findings& f, const model::Node& n, LoopTimes& t) {
  const CallPlan& plan = f.plans[n.shape];
  t.waits |= plan.waits || plan.asks_events;
  if (!plan.command) return;
  const bool may_block = plan.blocking_at != NoValue && !n.values[plan.blocking_at].is_const(0);
  const bool sends = plan.moves == model::Direction::HostToDevice,
             receives = plan.moves == model::Direction::DeviceToHost;
  t.waits |= may_block && !sends;
  t.blocks_sending |= may_block && sends;
  t.receives |= receives;
  t.other |= plan.maps() || plan.unmaps() || std::any_of(plan.touches.begin(), plan.touches.end(), [](const Touch& x) {
               return x.kind == model::ObjectKind::Svm || x.implied();
             });
  if (plan.launch() || sends || receives) t.calls.push_back(n.shape);
}

void add_nest(const Findings& f, const std::vector<model::Node>& nodes, LoopTimes& t) {
  for (const model::Node& n : nodes) {
    if (n.kind == model::Node::Kind::Call)
      add_call(f, n, t);
    else if (n.kind == model::Node::Kind::Loop)
      add_nest(f, n.body, t);
    else
      t.other = true;
  }
}

void add_times(const Findings& f, const model::Node& loop, std::span<const int> widths, LoopTimes& t) {
  model::ShapeCounts counts;
  if (!model::count_shapes({&loop, 1}, widths, counts)) t.other = true;
  std::sort(t.calls.begin(), t.calls.end());
  t.calls.erase(std::unique(t.calls.begin(), t.calls.end()), t.calls.end());
  for (const model::ShapeId shape : t.calls) {
    const model::Stats& device = f.trace.stats[shape].device_ns;
    if (device.count == 0) {
      t.timed = false;
      continue;
    }
    const double ns =
        static_cast<double>(device.sum) / static_cast<double>(device.count) * static_cast<double>(counts[shape]);
    (f.plans[shape].launch() ? t.kernel_ns : t.transfer_ns) += ns;
  }
}

}  // namespace

void find_missed_overlap(Findings& f) {
  const auto queue = only_in_order_queue(f.trace, f.plans);
  const bool calls_back = std::any_of(f.plans.begin(), f.plans.end(), [](const CallPlan& p) { return p.calls_back; });
  if (!queue || calls_back) return;
  std::vector<int> widths;
  for (const model::Shape& s : f.trace.shapes) widths.push_back(s.values());
  for (const model::Stream& stream : f.trace.streams) {
    for (const model::Node& loop : stream.nodes) {
      const bool long_loop = loop.kind == model::Node::Kind::Loop && loop.count.value >= LeastIterations;
      if (stream.memory || !long_loop) continue;
      LoopTimes t;
      add_nest(f, loop.body, t);
      if (t.free()) add_times(f, loop, widths, t);
      const double iterations = static_cast<double>(loop.count.value);
      const double overlap = static_cast<double>(f.ratio.program.overlap_ns);
      const double ns = std::min(t.transfer_ns, t.kernel_ns) * (iterations - 1) / iterations - overlap;
      if (!t.free() || !worth(f, ns)) continue;
      Finding finding = finding_at(f, "missed-overlap", t.calls.front(), 0);
      finding.calls = t.calls;
      finding.saving_s = ns / 1e9;
      finding.evidence = fmt::format(
          "a loop of {} iterations has transfers of {} and kernels of {} in one queue, one after "
          "the other; nothing in it waits for a result",
          loop.count.value, time_text(static_cast<uint64_t>(t.transfer_ns)),
          time_text(static_cast<uint64_t>(t.kernel_ns)));
      finding.basis =
          "measured: the shorter of the two, less what overlapped; on a device that moves data while it computes";
      finding.advice = "Use a second queue for the transfers and two sets of buffers, with events between them.";
      f.out.push_back(std::move(finding));
    }
  }
}

}  // namespace gt::analyzer
