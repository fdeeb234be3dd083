// The machine that a replay runs on: one thread of the program, its queues and devices, and the link between them.
//
//   program ──commands, data──► up ──► server ──► queue ──► engine of the device
//      ▲                                                        │
//      └──────── replies, data ◄── down ◄───────────────────────┘
//
// Without a link the driver runs in the program's thread and there is nothing in between. With one:
//   - a command costs the program command_ns; the driver's own work happens on the server, one command at a time;
//   - data to the device passes the link, then the device's own transfer; data from it the other way round;
//   - a blocking write returns when its data has left, a blocking read when its data is here; an event's completion
//     is told to the client as it happens, so waiting for one that has long ended costs nothing;
//   - an engine (kernels; transfers to; transfers from the device) takes commands in the order in which they arrive.
// A device at the other end is as fast as the one in the trace.
//
// Events are remembered by recency: the latest Remembered of each class have clocks of their own, all older ones share
// the latest of theirs. So a replay's state is bounded, and is the same in each iteration of a loop even if its events
// are all different.
// Thread safety: none.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/remote/replay_clock.h"
#include "analyzer/remote/timed_call.h"
#include "traces/model/platform/platform.h"

namespace gt::analyzer {

struct QueueState {
  uint64_t key = 0;
  uint32_t device = 0;
  bool out_of_order = false;
  ReplayClock last;     // the end of all its commands, on the server
  ReplayClock known;    // and when the client knows, with what they bring it
  ReplayClock barrier;  // what commands of an out-of-order queue wait for
};
using Engines = std::array<ReplayClock, 3>;

struct EventState {
  int64_t slot = 0;
  ReplayClock done, known;
};
struct EventFamily {
  static constexpr size_t Remembered = 24;
  std::vector<EventState> recent;  // the latest first
  EventState older;
};

// Sums, which grow with time as clocks do.
struct ReplayWork {
  double up_ns = 0, down_ns = 0;         // the link is occupied
  double engine_ns[3] = {};              // all devices together
  double waited_ns = 0, measured_ns = 0; // in waiting calls: here, and in the trace
  double waits = 0, replies = 0;         // calls that waited; that waited for a round trip
};

class ReplayMachine {
 public:
  // `link` null: the local machine. `wake_ns`: what a wait costs beyond what it waits for.
  ReplayMachine(const model::LinkCosts* link, double wake_ns) : link_(link), wake_ns_(wake_ns) {}

  // `row`: the call's values, at least those that the plan names.
  void call(const TimedCall& plan, std::span<const int64_t> row);

  void start_at(const ReplayClock& clock) { host_ = clock; }
  const ReplayClock& host() const { return host_; }
  const ReplayWork& work() const { return work_; }
  // When everything has ended and the program knows it.
  ReplayClock end();

  // The state as a replay extrapolates it. visit(ReplayClock&), visit(double&), visit(int64_t& slot), in an order that
  // depends on the number of queues, devices and events alone; shape() tells whether that has changed.
  template <class Visit>
  void visit(Visit&& visit);
  uint64_t shape() const;

  // What may differ between iterations besides times: which events were found where.
  uint64_t take_trail() { return std::exchange(trail_, 0); }
  void set_trail(uint64_t trail) { trail_ = trail; }
  void note(uint64_t what) { trail_ = (trail_ ^ what) * 0x9e3779b97f4a7c15u; }
  Horizon& horizon() { return horizon_; }

 private:
  struct Sent {
    ReplayClock arrived;  // at the server
    ReplayClock left;     // the client
  };
  Sent send(double bytes);
  ReplayClock receive(const ReplayClock& from, double bytes);
  void serve(const Sent& sent, double ns);
  void wait_for(const ReplayClock& clock, const TimedCall& plan);
  void command(const TimedCall& plan, std::span<const int64_t> row);
  void wait_for_queue(const TimedCall& plan, std::span<const int64_t> row);
  void make_queue(const TimedCall& plan, std::span<const int64_t> row);
  void reply(const TimedCall& plan);

  QueueState& queue(const TimedCall::Ref& ref, std::span<const int64_t> row);
  uint32_t device(uint64_t key);
  const EventState* find_event(const TimedCall::Ref& ref, std::span<const int64_t> row);
  void remember(const TimedCall::Ref& ref, std::span<const int64_t> row, const ReplayClock& done,
                const ReplayClock& known);
  EventFamily* family(model::ClassId cls);

  const model::LinkCosts* link_;
  double wake_ns_;
  ReplayClock host_, up_, down_, server_;
  std::vector<QueueState> queues_;
  std::vector<uint64_t> device_keys_;
  std::vector<Engines> devices_;
  std::vector<EventFamily> events_;
  std::vector<uint32_t> family_of_;  // by class: index into events_, plus one
  ReplayWork work_;
  Horizon horizon_;
  uint64_t trail_ = 0;
};

template <class Visit>
void ReplayMachine::visit(Visit&& visit) {
  for (ReplayClock* c : {&host_, &up_, &down_, &server_}) visit(*c);
  for (QueueState& q : queues_)
    for (ReplayClock* c : {&q.last, &q.known, &q.barrier}) visit(*c);
  for (Engines& d : devices_)
    for (ReplayClock& c : d) visit(c);
  for (EventFamily& f : events_) {
    for (EventState& e : f.recent) visit(e.slot), visit(e.done), visit(e.known);
    visit(f.older.done), visit(f.older.known);
  }
  ReplayWork& w = work_;
  for (double* v : {&w.up_ns, &w.down_ns, &w.engine_ns[0], &w.engine_ns[1], &w.engine_ns[2], &w.waited_ns,
                    &w.measured_ns, &w.waits, &w.replies})
    visit(*v);
}

}  // namespace gt::analyzer
