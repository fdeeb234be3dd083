// Entities and their events.
#include "tests/link_simulation/link_simulation.h"

#include <algorithm>

#include "traces/model/fold/fold.h"

namespace gt::testing {
namespace {

using Kind = analyzer::TimedCall::Kind;
using Sync = analyzer::TimedCall::Sync;

constexpr double MessageBytes = 128;
constexpr int64_t QueueProperties = 0x1093;  // CL_QUEUE_PROPERTIES

bool is_sent(const analyzer::TimedCall& p) { return p.kind != Kind::WaitEvents && p.kind != Kind::WaitAll; }

}  // namespace

LinkSimulation::LinkSimulation(const model::Trace& trace, const std::vector<Plan>& plans, const model::LinkCosts* link,
                               double wake_ns)
    : x_trace(trace), x_plans(plans), x_link(link), x_wake_ns(wake_ns) {}

double LinkSimulation::run(const model::Stream& stream) {
  std::vector<int> value_counts;
  for (const model::Shape& s : x_trace.shapes) value_counts.push_back(s.values());
  (void)model::expand(stream.nodes, value_counts, [&](model::ShapeId shape, std::span<const int64_t> row) {
    Call& c = x_calls.emplace_back();
    c.plan = &x_plans[shape];
    c.row.assign(row.begin(), row.end());
    return true;
  });
  post(0, What::Step, None);
  while (!x_events.empty()) {
    const Event e = x_events.top();
    x_events.pop();
    handle(e);
  }
  return x_end;
}

void LinkSimulation::handle(const Event& e) {
  switch (e.what) {
    case What::Step:
      x_end = std::max(x_end, e.at);
      return step(e.at);
    case What::Sent:
      x_outbox.push_back(e.call);
      return transmit(e.at);
    case What::Judged:
      x_waiting_in = e.call;
      return try_resume(e.at);
    case What::Left:
      x_up_busy = false;
      x_calls[e.call].left = true;
      post(e.at + latency_ns(), What::Arrived, e.call);
      transmit(e.at);
      return try_resume(e.at);
    case What::Arrived:
      x_inbox.push_back(e.call);
      return serve(e.at);
    case What::Served:
      x_server_busy = false;
      submit(e.call, e.at);
      return x_link ? serve(e.at) : void();
    case What::Ended:
      return end_command(e.call, e.at);
    case What::Fetched:
      x_down_busy = false;
      post(e.at + latency_ns(), What::Here, e.call);
      return fetch(e.at);
    case What::Here:
      x_calls[e.call].here = true;
      if (x_calls[e.call].plan->kind == Kind::Command) x_end = std::max(x_end, e.at);
      return try_resume(e.at);
  }
}

// The program goes on: its own time, then its next call.
void LinkSimulation::step(double now) {
  if (x_next == x_calls.size()) return;
  const size_t call = x_next++;
  const Call& c = x_calls[call];
  const Plan& p = *c.plan;
  now += p.gap_ns;
  if (p.kind == Kind::Local) return post(now + p.host_ns, What::Step, None);
  order(call);
  if (is_sent(p)) {
    now += x_link ? x_link->command_ns : served_ns(c);
    post(now, x_link ? What::Sent : What::Served, call);
  }
  post(now, makes_wait(c) ? What::Judged : What::Step, call);
}

bool LinkSimulation::makes_wait(const Call& c) const {
  if (c.plan->kind == Kind::Reply) return x_link != nullptr;
  return c.plan->kind == Kind::WaitQueue || !is_sent(*c.plan) || is_blocking(c);
}

// The driver's own work. What a call that waits takes of it is part of the wait.
double LinkSimulation::served_ns(const Call& c) const {
  return is_blocking(c) || c.plan->kind == Kind::WaitQueue ? 0 : c.plan->host_ns;
}

void LinkSimulation::try_resume(double now) {
  if (x_waiting_in == None || !may_resume(x_calls[x_waiting_in])) return;
  const bool reply = x_calls[x_waiting_in].plan->kind == Kind::Reply;
  x_waiting_in = None;
  post(now + (reply ? 0 : x_wake_ns), What::Step, None);
}

bool LinkSimulation::may_resume(Call& c) const {
  const Plan& p = *c.plan;
  if (p.kind == Kind::Command && x_link && p.engine == Plan::Engine::ToDevice) return c.left;
  const bool answered = p.kind == Kind::Reply || p.kind == Kind::WaitQueue;
  if (answered && !c.here) return false;
  while (!c.awaits.empty() && x_calls[c.awaits.back()].here) c.awaits.pop_back();
  return c.awaits.empty();
}

void LinkSimulation::transmit(double now) {
  if (x_up_busy || x_outbox.empty()) return;
  const size_t call = x_outbox.front();
  x_outbox.pop_front();
  x_up_busy = true;
  post(now + x_link->put(x_calls[call].plan->put_bytes + MessageBytes), What::Left, call);
}

void LinkSimulation::serve(double now) {
  if (x_server_busy || x_inbox.empty()) return;
  const size_t call = x_inbox.front();
  x_inbox.pop_front();
  x_server_busy = true;
  post(now + served_ns(x_calls[call]), What::Served, call);
}

void LinkSimulation::fetch(double now) {
  if (x_down_busy || x_returns.empty()) return;
  const size_t call = x_returns.front();
  x_returns.pop_front();
  x_down_busy = true;
  post(now + x_link->get(x_calls[call].plan->get_bytes + MessageBytes), What::Fetched, call);
}

// What the server does with a message that it has worked on.
void LinkSimulation::submit(size_t call, double now) {
  Call& c = x_calls[call];
  c.submitted = true;
  if (c.plan->kind == Kind::Command && c.plan->device_ns > 0) {
    const Object device = queue_of(c).device;
    x_engines[{device, c.plan->engine}].commands.push_back(call);
    return try_start(device, c.plan->engine, now);
  }
  if (c.waiting == 0) answer(call, now);
}

// Nothing stands in the way of what needs no engine.
void LinkSimulation::answer(size_t call, double now) {
  const Call& c = x_calls[call];
  const bool asked = c.plan->kind == Kind::Reply || c.plan->kind == Kind::WaitQueue;
  asked ? post(now + latency_ns(), What::Here, call) : end_command(call, now);
}

void LinkSimulation::depend(size_t call, size_t on) {
  if (on == None || x_calls[on].ended) return;
  x_calls[on].before.push_back(call);
  ++x_calls[call].waiting;
}

size_t LinkSimulation::maker(const Plan::Ref& ref, const Call& c) const {
  const auto at = x_made.find(object(ref, c));
  return at == x_made.end() ? None : at->second;
}

// What a call must come after follows from the order in which the program makes its calls.
void LinkSimulation::order(size_t call) {
  Call& c = x_calls[call];
  const Plan& p = *c.plan;
  if (p.kind == Kind::MakeQueue && p.queue.known()) make_queue(c);
  if (p.kind == Kind::Command) order_command(call);
  if (p.kind == Kind::WaitQueue) {
    c.awaits = queue_of(c).commands;
    for (const size_t other : c.awaits) depend(call, other);
  }
  if (p.kind == Kind::WaitAll)
    for (const auto& [object, q] : x_queues) c.awaits.insert(c.awaits.end(), q.commands.begin(), q.commands.end());
  if (p.kind == Kind::WaitEvents)
    for (const Plan::Ref& ref : p.waits)
      if (const size_t e = maker(ref, c); e != None) c.awaits.push_back(e);
  if (p.made_event.known()) x_made[object(p.made_event, c)] = call;
}

void LinkSimulation::order_command(size_t call) {
  Call& c = x_calls[call];
  const Plan& p = *c.plan;
  Queue& q = queue_of(c);
  for (const Plan::Ref& ref : p.waits) depend(call, maker(ref, c));
  if (!q.out_of_order && !q.commands.empty()) depend(call, q.commands.back());
  const bool after_all = q.out_of_order && p.sync != Sync::None && p.waits.empty();
  if (after_all)
    for (const size_t other : q.commands) depend(call, other);
  if (q.out_of_order) depend(call, q.barrier);
  if (p.sync == Sync::Barrier) q.barrier = call;
  if (q.commands.size() % 256 == 255) {
    const size_t last = q.commands.back();
    std::erase_if(q.commands, [&](size_t other) { return other != last && x_calls[other].here; });
  }
  q.commands.push_back(call);
  if (is_blocking(c)) c.awaits.push_back(call);
}

void LinkSimulation::make_queue(const Call& c) {
  const Plan& p = *c.plan;
  Queue& q = queue_of(c);
  q.device = p.device.known() ? object(p.device, c) : Object{};
  for (size_t i = 0; i < p.properties.size(); ++i) {
    const bool bits = !p.property_list || (i % 2 == 1 && c.row[p.properties[i - 1]] == QueueProperties);
    if (bits && (c.row[p.properties[i]] & 1) != 0) q.out_of_order = true;
  }
}

// An engine takes its commands in the order in which they came, each when what it depends on has ended.
void LinkSimulation::try_start(const Object& device, Plan::Engine kind, double now) {
  Engine& engine = x_engines[{device, kind}];
  if (engine.busy || engine.commands.empty()) return;
  const Call& c = x_calls[engine.commands.front()];
  if (c.waiting > 0) return;
  engine.busy = true;
  post(now + c.plan->device_ns, What::Ended, engine.commands.front());
}

void LinkSimulation::end_command(size_t call, double now) {
  Call& c = x_calls[call];
  const Plan& p = *c.plan;
  c.ended = true;
  if (x_link && p.kind == Kind::Command && p.get_bytes > 0) {
    x_returns.push_back(call);
    fetch(now);
  } else {
    post(now + latency_ns(), What::Here, call);
  }
  for (const size_t other : std::exchange(c.before, {}))
    if (--x_calls[other].waiting == 0) released(other, now);
  if (p.kind != Kind::Command || p.device_ns <= 0) return;
  const Object device = queue_of(c).device;
  Engine& engine = x_engines[{device, p.engine}];
  engine.busy = false;
  engine.commands.pop_front();
  try_start(device, p.engine, now);
}

// Nothing that a call waits for is still running.
void LinkSimulation::released(size_t call, double now) {
  Call& c = x_calls[call];
  if (!c.submitted) return;
  if (c.plan->kind == Kind::Command && c.plan->device_ns > 0) return try_start(queue_of(c).device, c.plan->engine, now);
  answer(call, now);
}

bool LinkSimulation::is_blocking(const Call& c) const {
  return c.plan->kind == Kind::Command && c.plan->blocking != Plan::NoValue && c.row[c.plan->blocking] != 0;
}

LinkSimulation::Queue& LinkSimulation::queue_of(const Call& c) {
  return x_queues[c.plan->queue.known() ? object(c.plan->queue, c) : Object{}];
}

}  // namespace gt::testing
