// The commands on their way in one queue, and the wait that may turn out to have ordered nothing.
#include "analyzer/rules/wait_flow.h"

#include <algorithm>
#include <optional>

#include "analyzer/calls/queues.h"
#include "analyzer/rules/replay.h"

namespace gt::analyzer {
namespace {

using model::ClassId;

class WaitFlow {
 public:
  WaitFlow(const model::Trace& trace, ClassId queue, std::vector<WaitFacts>& facts)
      : x_trace(trace), x_queue(queue), x_facts(facts) {}

  void step(const Step& s) {
    if (s.plan.failed(s.values)) return;
    if (s.plan.asks_events) x_candidate.reset();
    if (finishes(s.plan)) return finish(s);
    if (!s.plan.command) return;
    settle(s.weight);
    if (s.plan.blocks(s.values)) return clear();
    note(s.plan);
  }

  // After a jump, what is on its way is not known.
  void forget(std::span<const ClassId> classes) {
    x_candidate.reset();
    if (std::binary_search(classes.begin(), classes.end(), x_queue)) x_host = true;
  }

 private:
  struct Candidate {
    model::ShapeId shape;
    double awaited_ns;
    bool timed;
  };

  bool finishes(const CallPlan& p) const { return p.waits && p.queue != NoValue && p.touches[p.queue].cls == x_queue; }

  void finish(const Step& s) {
    settle(s.weight);
    if (x_commands == 0 && !x_host) x_facts[s.plan.shape].idle += s.weight;
    if (x_commands > 0 && !x_host) x_candidate = {s.plan.shape, x_awaited_ns, x_timed};
    clear();
  }

  // The program went on without looking. The step that shows it says how often: in a loop, the wait before the last
  // iteration stands before all but the first.
  void settle(uint64_t weight) {
    if (!x_candidate) return;
    WaitFacts& f = x_facts[x_candidate->shape];
    f.early += weight;
    f.awaited_ns += static_cast<double>(weight) * x_candidate->awaited_ns;
    f.timed &= x_candidate->timed;
    x_candidate.reset();
  }

  void note(const CallPlan& p) {
    ++x_commands;
    // Once memory is to be unmapped the host may not look at it any more, whether that is done or not.
    const bool device_only = p.launch() || p.moves == model::Direction::DeviceToDevice || p.unmaps();
    x_host |= !device_only || std::any_of(p.touches.begin(), p.touches.end(), [&](const Touch& t) {
      const bool left = p.unmaps() && t.kind == model::ObjectKind::Mapping;
      return (is_host_memory(t.kind) && !left) || t.kind == model::ObjectKind::CommandBuffer;
    });
    const model::Stats& device = x_trace.stats[p.shape].device_ns;
    if (device.count == 0)
      x_timed = false;
    else
      x_awaited_ns += static_cast<double>(device.sum) / static_cast<double>(device.count);
  }

  void clear() {
    x_commands = 0;
    x_awaited_ns = 0;
    x_host = false;
    x_timed = true;
  }

  const model::Trace& x_trace;
  const ClassId x_queue;
  std::vector<WaitFacts>& x_facts;
  uint64_t x_commands = 0;  // on their way
  double x_awaited_ns = 0;  // their device time
  bool x_host = false;      // one of them may touch what the host sees, or it is not known
  bool x_timed = true;
  std::optional<Candidate> x_candidate;
};

bool has_callbacks(const CallPlans& plans) {
  return std::any_of(plans.begin(), plans.end(), [](const CallPlan& p) { return p.calls_back; });
}

bool prints(const model::Trace& trace) {
  return std::any_of(trace.kernels.begin(), trace.kernels.end(), [&](const model::Kernel& k) {
    if (k.source >= trace.blobs.size()) return true;  // not known
    return as_text(trace.blobs[k.source].bytes).find("printf") != std::string_view::npos;
  });
}

}  // namespace

std::vector<WaitFacts> follow_waits(const model::Trace& trace, const CallPlans& plans) {
  std::vector<WaitFacts> facts(trace.shapes.size());
  const auto queue = only_in_order_queue(trace, plans);
  if (!queue || has_callbacks(plans) || prints(trace)) return facts;
  for (const model::Stream& stream : trace.streams) {
    if (stream.memory || stream.thread != trace.classes[*queue].thread) continue;
    WaitFlow flow(trace, *queue, facts);
    const ReplayListener listener{[&](const Step& s) { flow.step(s); },
                                  [&](std::span<const ClassId> classes) { flow.forget(classes); }};
    replay(trace, stream, plans, listener);
  }
  return facts;
}

}  // namespace gt::analyzer
