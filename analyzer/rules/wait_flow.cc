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
      : trace_(trace), queue_(queue), facts_(facts) {}

  void step(const Step& s) {
    if (s.plan.failed(s.values)) return;
    if (s.plan.asks_events) candidate_.reset();
    if (finishes(s.plan)) return finish(s);
    if (!s.plan.command) return;
    settle(s.weight);
    if (s.plan.blocks(s.values)) return clear();
    note(s.plan);
  }

  // After a jump, what is on its way is not known.
  void forget(std::span<const ClassId> classes) {
    candidate_.reset();
    if (std::binary_search(classes.begin(), classes.end(), queue_)) host_ = true;
  }

 private:
  struct Candidate {
    model::ShapeId shape;
    double awaited_ns;
    bool timed;
  };

  bool finishes(const CallPlan& p) const { return p.waits && p.queue != NoValue && p.touches[p.queue].cls == queue_; }

  void finish(const Step& s) {
    settle(s.weight);
    if (commands_ == 0 && !host_) facts_[s.plan.shape].idle += s.weight;
    if (commands_ > 0 && !host_) candidate_ = {s.plan.shape, awaited_ns_, timed_};
    clear();
  }

  // The program went on without looking. The step that shows it says how often: in a loop, the wait before the last
  // iteration stands before all but the first.
  void settle(uint64_t weight) {
    if (!candidate_) return;
    WaitFacts& f = facts_[candidate_->shape];
    f.early += weight;
    f.awaited_ns += static_cast<double>(weight) * candidate_->awaited_ns;
    f.timed &= candidate_->timed;
    candidate_.reset();
  }

  void note(const CallPlan& p) {
    ++commands_;
    // Once memory is to be unmapped the host may not look at it any more, whether that is done or not.
    const bool device_only = p.launch() || p.moves == model::Direction::DeviceToDevice || p.unmaps();
    host_ |= !device_only || std::any_of(p.touches.begin(), p.touches.end(), [&](const Touch& t) {
      const bool left = p.unmaps() && t.kind == model::ObjectKind::Mapping;
      return (is_host_memory(t.kind) && !left) || t.kind == model::ObjectKind::CommandBuffer;
    });
    const model::Stats& device = trace_.stats[p.shape].device_ns;
    if (device.count == 0)
      timed_ = false;
    else
      awaited_ns_ += static_cast<double>(device.sum) / static_cast<double>(device.count);
  }

  void clear() {
    commands_ = 0;
    awaited_ns_ = 0;
    host_ = false;
    timed_ = true;
  }

  const model::Trace& trace_;
  const ClassId queue_;
  std::vector<WaitFacts>& facts_;
  uint64_t commands_ = 0;  // on their way
  double awaited_ns_ = 0;  // their device time
  bool host_ = false;      // one of them may touch what the host sees, or it is not known
  bool timed_ = true;
  std::optional<Candidate> candidate_;
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
