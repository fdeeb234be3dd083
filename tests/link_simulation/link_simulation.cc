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
    : trace_(trace), plans_(plans), link_(link), wake_ns_(wake_ns) {}

double LinkSimulation::run(const model::Stream& stream) {
  std::vector<int> value_counts;
  for (const model::Shape& s : trace_.shapes) value_counts.push_back(s.values());
  (void)model::expand(stream.nodes, value_counts, [&](model::ShapeId shape, std::span<const int64_t> row) {
    Call& c = calls_.emplace_back();
    c.plan = &plans_[shape];
    c.row.assign(row.begin(), row.end());
    return true;
  });
  post(0, What::Step, None);
  while (!events_.empty()) {
    const Event e = events_.top();
    events_.pop();
    handle(e);
  }
  return end_;
}

void LinkSimulation::handle(const Event& e) {
  switch (e.what) {
    case What::Step:
      end_ = std::max(end_, e.at);
      return step(e.at);
    case What::Sent:
      outbox_.push_back(e.call);
      return transmit(e.at);
    case What::Judged:
      waiting_in_ = e.call;
      return try_resume(e.at);
    case What::Left:
      up_busy_ = false;
      calls_[e.call].left = true;
      post(e.at + latency_ns(), What::Arrived, e.call);
      transmit(e.at);
      return try_resume(e.at);
    case What::Arrived:
      inbox_.push_back(e.call);
      return serve(e.at);
    case What::Served:
      server_busy_ = false;
      submit(e.call, e.at);
      return link_ ? serve(e.at) : void();
    case What::Ended:
      return end_command(e.call, e.at);
    case What::Fetched:
      down_busy_ = false;
      post(e.at + latency_ns(), What::Here, e.call);
      return fetch(e.at);
    case What::Here:
      calls_[e.call].here = true;
      if (calls_[e.call].plan->kind == Kind::Command) end_ = std::max(end_, e.at);
      return try_resume(e.at);
  }
}

// The program goes on: its own time, then its next call.
void LinkSimulation::step(double now) {
  if (next_ == calls_.size()) return;
  const size_t call = next_++;
  const Call& c = calls_[call];
  const Plan& p = *c.plan;
  now += p.gap_ns;
  if (p.kind == Kind::Local) return post(now + p.host_ns, What::Step, None);
  order(call);
  if (is_sent(p)) {
    now += link_ ? link_->command_ns : served_ns(c);
    post(now, link_ ? What::Sent : What::Served, call);
  }
  post(now, makes_wait(c) ? What::Judged : What::Step, call);
}

bool LinkSimulation::makes_wait(const Call& c) const {
  if (c.plan->kind == Kind::Reply) return link_ != nullptr;
  return c.plan->kind == Kind::WaitQueue || !is_sent(*c.plan) || is_blocking(c);
}

// The driver's own work. What a call that waits takes of it is part of the wait.
double LinkSimulation::served_ns(const Call& c) const {
  return is_blocking(c) || c.plan->kind == Kind::WaitQueue ? 0 : c.plan->host_ns;
}

void LinkSimulation::try_resume(double now) {
  if (waiting_in_ == None || !may_resume(calls_[waiting_in_])) return;
  const bool reply = calls_[waiting_in_].plan->kind == Kind::Reply;
  waiting_in_ = None;
  post(now + (reply ? 0 : wake_ns_), What::Step, None);
}

bool LinkSimulation::may_resume(Call& c) const {
  const Plan& p = *c.plan;
  if (p.kind == Kind::Command && link_ && p.engine == Plan::Engine::ToDevice) return c.left;
  const bool answered = p.kind == Kind::Reply || p.kind == Kind::WaitQueue;
  if (answered && !c.here) return false;
  while (!c.awaits.empty() && calls_[c.awaits.back()].here) c.awaits.pop_back();
  return c.awaits.empty();
}

void LinkSimulation::transmit(double now) {
  if (up_busy_ || outbox_.empty()) return;
  const size_t call = outbox_.front();
  outbox_.pop_front();
  up_busy_ = true;
  post(now + link_->put(calls_[call].plan->put_bytes + MessageBytes), What::Left, call);
}

void LinkSimulation::serve(double now) {
  if (server_busy_ || inbox_.empty()) return;
  const size_t call = inbox_.front();
  inbox_.pop_front();
  server_busy_ = true;
  post(now + served_ns(calls_[call]), What::Served, call);
}

void LinkSimulation::fetch(double now) {
  if (down_busy_ || returns_.empty()) return;
  const size_t call = returns_.front();
  returns_.pop_front();
  down_busy_ = true;
  post(now + link_->get(calls_[call].plan->get_bytes + MessageBytes), What::Fetched, call);
}

// What the server does with a message that it has worked on.
void LinkSimulation::submit(size_t call, double now) {
  Call& c = calls_[call];
  c.submitted = true;
  if (c.plan->kind == Kind::Command && c.plan->device_ns > 0) {
    const Object device = queue_of(c).device;
    engines_[{device, c.plan->engine}].commands.push_back(call);
    return try_start(device, c.plan->engine, now);
  }
  if (c.waiting == 0) answer(call, now);
}

// Nothing stands in the way of what needs no engine.
void LinkSimulation::answer(size_t call, double now) {
  const Call& c = calls_[call];
  const bool asked = c.plan->kind == Kind::Reply || c.plan->kind == Kind::WaitQueue;
  asked ? post(now + latency_ns(), What::Here, call) : end_command(call, now);
}

void LinkSimulation::depend(size_t call, size_t on) {
  if (on == None || calls_[on].ended) return;
  calls_[on].before.push_back(call);
  ++calls_[call].waiting;
}

size_t LinkSimulation::maker(const Plan::Ref& ref, const Call& c) const {
  const auto at = made_.find(object(ref, c));
  return at == made_.end() ? None : at->second;
}

// What a call must come after follows from the order in which the program makes its calls.
void LinkSimulation::order(size_t call) {
  Call& c = calls_[call];
  const Plan& p = *c.plan;
  if (p.kind == Kind::MakeQueue && p.queue.known()) make_queue(c);
  if (p.kind == Kind::Command) order_command(call);
  if (p.kind == Kind::WaitQueue) {
    c.awaits = queue_of(c).commands;
    for (const size_t other : c.awaits) depend(call, other);
  }
  if (p.kind == Kind::WaitAll)
    for (const auto& [object, q] : queues_) c.awaits.insert(c.awaits.end(), q.commands.begin(), q.commands.end());
  if (p.kind == Kind::WaitEvents)
    for (const Plan::Ref& ref : p.waits)
      if (const size_t e = maker(ref, c); e != None) c.awaits.push_back(e);
  if (p.made_event.known()) made_[object(p.made_event, c)] = call;
}

void LinkSimulation::order_command(size_t call) {
  Call& c = calls_[call];
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
    std::erase_if(q.commands, [&](size_t other) { return other != last && calls_[other].here; });
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
  Engine& engine = engines_[{device, kind}];
  if (engine.busy || engine.commands.empty()) return;
  const Call& c = calls_[engine.commands.front()];
  if (c.waiting > 0) return;
  engine.busy = true;
  post(now + c.plan->device_ns, What::Ended, engine.commands.front());
}

void LinkSimulation::end_command(size_t call, double now) {
  Call& c = calls_[call];
  const Plan& p = *c.plan;
  c.ended = true;
  if (link_ && p.kind == Kind::Command && p.get_bytes > 0) {
    returns_.push_back(call);
    fetch(now);
  } else {
    post(now + latency_ns(), What::Here, call);
  }
  for (const size_t other : std::exchange(c.before, {}))
    if (--calls_[other].waiting == 0) released(other, now);
  if (p.kind != Kind::Command || p.device_ns <= 0) return;
  const Object device = queue_of(c).device;
  Engine& engine = engines_[{device, p.engine}];
  engine.busy = false;
  engine.commands.pop_front();
  try_start(device, p.engine, now);
}

// Nothing that a call waits for is still running.
void LinkSimulation::released(size_t call, double now) {
  Call& c = calls_[call];
  if (!c.submitted) return;
  if (c.plan->kind == Kind::Command && c.plan->device_ns > 0) return try_start(queue_of(c).device, c.plan->engine, now);
  answer(call, now);
}

bool LinkSimulation::is_blocking(const Call& c) const {
  return c.plan->kind == Kind::Command && c.plan->blocking != Plan::NoValue && c.row[c.plan->blocking] != 0;
}

LinkSimulation::Queue& LinkSimulation::queue_of(const Call& c) {
  return queues_[c.plan->queue.known() ? object(c.plan->queue, c) : Object{}];
}

}  // namespace gt::testing
