// A discrete-event simulation of a program, a link, a server and its devices: the analyzer's replay is checked
// against it.
//
// It shares with the replay what a call is and costs (timed_call.h), and the rules of the machine as
// replay_machine.h states them. The method is another one: every call of the unfolded trace is an entity of its own,
// and a queue of timed events (a message has left, has arrived, was served; a command has ended, its data is here)
// drives client, link, server and engines, each with its own queue. Nothing is assumed about loops, no maximum is
// taken early, all events of OpenCL are remembered.
// One thread's calls. Thread safety: none. Cost: O(calls), in memory too.
#pragma once

#include <compare>
#include <deque>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "analyzer/remote/timed_call.h"
#include "traces/model/fold/event.h"
#include "traces/model/platform/platform.h"

namespace gt::testing {

class LinkSimulation {
 public:
  // `link` null: the local machine. REQUIRES: everything outlives this.
  LinkSimulation(const model::Trace& trace, const std::vector<analyzer::TimedCall>& plans, const model::LinkCosts* link,
                 double wake_ns);

  // ns until the thread's last call has returned and everything that it started has ended.
  double run(const model::Stream& stream);

 private:
  using Plan = analyzer::TimedCall;
  enum class What {
    Step,     // the program makes its next call
    Sent,     // a message is in the outbox
    Judged,   // the program begins to wait
    Left,     // a message has left
    Arrived,  // and is at the server
    Served,   // and was worked on
    Ended,    // a command has ended
    Fetched,  // its data has passed the link
    Here,     // the client knows
  };
  struct Event {
    double at;
    uint64_t order;  // of events at one time: as they were made
    What what;
    size_t call;
    bool operator>(const Event& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  struct Object {
    uint32_t cls = model::NoIndex;
    int64_t slot = 0;
    auto operator<=>(const Object&) const = default;
  };
  struct Call {
    const Plan* plan = nullptr;
    std::vector<int64_t> row;
    size_t waiting = 0;          // calls whose commands must end first, and have not
    std::vector<size_t> before;  // calls that wait for this one's command
    std::vector<size_t> awaits;  // a waiting call: commands that the client must know to have ended
    bool submitted = false, ended = false, here = false, left = false;
  };
  struct Queue {
    bool out_of_order = false;
    Object device;
    size_t barrier = None;
    std::vector<size_t> commands;  // sent or to be sent, all
  };
  static constexpr size_t None = static_cast<size_t>(-1);

  void post(double at, What what, size_t call) { events_.push({at, order_++, what, call}); }
  void handle(const Event& e);
  void step(double now);
  void try_resume(double now);
  bool may_resume(Call& c) const;
  void transmit(double now);
  void serve(double now);
  void fetch(double now);
  void submit(size_t call, double now);
  void answer(size_t call, double now);
  void order(size_t call);
  void order_command(size_t call);
  void make_queue(const Call& c);
  void depend(size_t call, size_t on);
  size_t maker(const Plan::Ref& ref, const Call& c) const;
  void try_start(const Object& device, Plan::Engine engine, double now);
  void end_command(size_t call, double now);
  void released(size_t call, double now);
  bool is_blocking(const Call& c) const;
  bool makes_wait(const Call& c) const;
  double served_ns(const Call& c) const;
  double latency_ns() const { return link_ ? link_->latency_ns : 0; }
  Queue& queue_of(const Call& c);
  Object object(const Plan::Ref& ref, const Call& c) const { return {ref.cls, c.row[ref.value]}; }

  const model::Trace& trace_;
  const std::vector<Plan>& plans_;
  const model::LinkCosts* link_;
  double wake_ns_;

  std::vector<Call> calls_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t order_ = 0;
  size_t next_ = 0;           // call that the program makes next
  size_t waiting_in_ = None;  // call that the program is in, waiting
  double end_ = 0;

  std::deque<size_t> outbox_, inbox_, returns_;
  bool up_busy_ = false, server_busy_ = false, down_busy_ = false;
  std::map<Object, Queue> queues_;
  std::map<Object, size_t> made_;  // the call that made an event last
  struct Engine {
    std::deque<size_t> commands;
    bool busy = false;
  };
  std::map<std::pair<Object, Plan::Engine>, Engine> engines_;
};

}  // namespace gt::testing
