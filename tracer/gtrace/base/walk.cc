// Node by node: unfold or skip, and keep the timeline in step.
#include "tracer/gtrace/base/walk.h"

#include "traces/model/fold/fold.h"

namespace gt::tracer {
namespace {

using model::Node;

class Walker {
 public:
  Walker(const model::Trace& trace, const model::Stream& stream, const Walk& walk) : walk_(walk) {
    for (const model::Shape& s : trace.shapes) value_counts_.push_back(s.values());
    if (walk.rounds && walk.timeless) rounds_ = [this](model::Rounds& rounds) { return make_rounds(rounds); };
    if (walk.timeless || stream.timeline.empty()) return;
    times_ = model::TimelineReader::open(stream.timeline);
    sound_ = times_.has_value();
  }

  bool nodes(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) {
      if (!sound_ || stopped_) break;
      one(n);
    }
    return sound_;
  }

 private:
  void one(const Node& n) {
    const bool gone = n.kind == Node::Kind::Summary;  // its calls were left out when the trace was written
    const uint64_t calls = gone ? static_cast<uint64_t>(n.count.value) : events_of(n);
    if (gone && walk_.left_out) stopped_ = !walk_.left_out(n, number_ + 1);
    if (gone || !walk_.wanted(n, number_ + 1, number_ + calls)) return skip(calls);
    const auto visit = [this](model::ShapeId shape, std::span<const int64_t> values) { return event(shape, values); };
    const bool unfolds = model::expand({&n, 1}, value_counts_, visit, rounds_);
    sound_ = sound_ && unfolds;
  }

  static uint64_t events_of(const Node& n) {
    if (n.kind == Node::Kind::Call) return 1;
    return model::event_count({&n, 1});
  }

  void skip(uint64_t calls) {
    number_ += calls;
    model::EventTime time;
    for (; times_ && calls > 0; --calls) {
      if (!times_->next(time)) return fail();
      times_->command();
    }
  }
  void fail() { sound_ = false; }

  bool event(model::ShapeId shape, std::span<const int64_t> values) {
    event_.number = ++number_;
    event_.shape = shape;
    event_.values = values;
    if (times_) {
      event_.time.emplace();
      if (!times_->next(*event_.time)) return fail(), false;
      event_.command = times_->command();
    }
    stopped_ = !walk_.visit(event_);
    return !stopped_;
  }

  bool make_rounds(model::Rounds& rounds) {
    const uint64_t before = rounds.left();
    stopped_ = !walk_.rounds(rounds, number_ + 1);
    number_ += (before - rounds.left()) * rounds.size() + rounds.within();
    return !stopped_;
  }

  const Walk& walk_;
  model::RoundsVisitor rounds_;
  std::vector<int> value_counts_;
  std::optional<model::TimelineReader> times_;
  WalkedEvent event_;
  uint64_t number_ = 0;
  bool sound_ = true, stopped_ = false;
};

}  // namespace

Status walk_stream(const model::Trace& trace, const model::Stream& stream, const Walk& walk) {
  if (Walker(trace, stream, walk).nodes(stream.nodes)) return {};
  const std::string thread = std::to_string(stream.thread);
  return {Kind::Corrupt, "the trace is damaged (thread " + thread + ": its calls do not unfold)"};
}

}  // namespace gt::tracer
