// The calls of each thread as they are written into the trace: its stream and timeline, the statistics of their shapes,
// and the device time of their commands.
//
// Thread safety: none. Cost: in a loop a call's shape is found by one comparison.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "tracer/collect/command_times.h"
#include "tracer/collect/devices.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/collect/tick_clock.h"
#include "tracer/collect/trace_tables.h"
#include "tracer/collect/traced_thread.h"
#include "traces/model/fold/fold.h"
#include "traces/model/folded/run_usage.h"
#include "traces/model/folded/timeline.h"

namespace gt::tracer {

class CallList {
 public:
  // All must outlive it.
  CallList(TraceTables& tables, Devices& devices, const TickClock& clock)
      : tables_(tables), trace_(tables.trace), devices_(devices), clock_(clock) {}
  void keep_times() { keep_times_ = true; }  // before the first record

  // The thread's pending call, which took so long. timed: the time of its command will come.
  void add_call(const TracedThread& thread, uint64_t ns, bool timed);
  // The callback whose call is pending. ns: how long it took, when that is known by now.
  model::ShapeId add_callback(const TracedThread& callback_thread, std::optional<uint64_t> ns);
  void callback_took(model::ShapeId callback, uint64_t ns);
  void take_device_time(const RecordView& record);

  // The calls of a thread; nullptr: it has made none. And their times; nullptr: not kept.
  model::Folder* stream(const TracedThread& thread) const;
  const model::TimelineBuilder* times(const TracedThread& thread) const;
  const std::map<model::ShapeId, model::FreshBytes>& fresh() const { return fresh_; }
  // Puts the times of devices, queues and contexts that had commands into the trace. Once, at the end.
  void finish();

 private:
  struct State {  // of a thread
    model::Folder stream;
    std::unique_ptr<model::TimelineBuilder> times;
    // What call came after which, the last time: in a loop the same comes again, and interning is a comparison.
    model::ShapeId last_shape = 0;
    std::array<model::ShapeId, 1024> next_shape{};
  };
  struct Placed {  // a command in a timeline whose device time is still to come
    State* state;       // of the thread that made the call...
    uint32_t device;
    uint64_t event;     // ...which is this one of its stream...
    uint64_t entry_ns;  // ...and was entered then
  };

  State& of(const TracedThread& thread) {
    return states_.get(thread, [this](State& made) {
      if (keep_times_) made.times = std::make_unique<model::TimelineBuilder>();
    });
  }
  model::ShapeId shape_of(State& state, const model::Shape& shape);
  void add_command(const TracedThread& thread, State& state, model::ShapeId shape, bool timed);

  TraceTables& tables_;
  model::Trace& trace_;
  Devices& devices_;
  const TickClock& clock_;
  bool keep_times_ = false;
  PerThread<State> states_;
  std::map<model::ShapeId, model::FreshBytes> fresh_;  // of large transfers only
  CommandTimes times_;                           // keys: thread and sequence number
  std::unordered_map<uint64_t, Placed> placed_;  // by the same keys; with timelines only
};

}  // namespace gt::tracer
