// One call after the other.
#include "analyzer/remote/replay_machine.h"

#include <algorithm>

namespace gt::analyzer {
namespace {

constexpr double MessageBytes = 128;          // of a command with its arguments, or of a reply
constexpr size_t MaxQueues = 64;              // beyond: all queues of a class are one
constexpr size_t MaxDevices = 64;             // beyond: the last one stands for the rest
constexpr uint64_t QueueProperties = 0x1093;  // CL_QUEUE_PROPERTIES
constexpr int64_t OutOfOrder = 1;             // CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE

uint64_t key_of(const TimedCall::Ref& ref, std::span<const int64_t> row) {
  return uint64_t{ref.cls} << 32 | (static_cast<uint64_t>(row[ref.value]) & 0xffffffff);
}

bool blocks(const TimedCall& plan, std::span<const int64_t> row) {
  return plan.blocking != TimedCall::NoValue && row[plan.blocking] != 0;
}

bool is_out_of_order(const TimedCall& plan, std::span<const int64_t> row) {
  if (!plan.property_list) return !plan.properties.empty() && (row[plan.properties[0]] & OutOfOrder) != 0;
  for (size_t i = 0; i + 1 < plan.properties.size(); i += 2) {
    const bool key = static_cast<uint64_t>(row[plan.properties[i]]) == QueueProperties;
    if (key && (row[plan.properties[i + 1]] & OutOfOrder) != 0) return true;
  }
  return false;
}

}  // namespace

void ReplayMachine::call(const TimedCall& plan, std::span<const int64_t> row) {
  x_host.add(Term::Host, plan.gap_ns);
  switch (plan.kind) {
    case TimedCall::Kind::Local:
      return x_host.add(Term::Host, plan.host_ns);
    case TimedCall::Kind::Post: {
      serve(send(plan.put_bytes), plan.host_ns);
      if (plan.made_event.known()) remember(plan.made_event, row, x_server, x_host);
      return;
    }
    case TimedCall::Kind::Command:
      return command(plan, row);
    case TimedCall::Kind::Reply:
      return reply(plan);
    case TimedCall::Kind::MakeQueue:
      return make_queue(plan, row);
    case TimedCall::Kind::WaitQueue:
      return wait_for_queue(plan, row);
    case TimedCall::Kind::WaitEvents: {
      ReplayClock latest = x_host;
      for (const TimedCall::Ref& ref : plan.waits)
        if (const EventState* e = find_event(ref, row)) x_horizon.wait(latest, e->known);
      return wait_for(latest, plan);
    }
    case TimedCall::Kind::WaitAll:
      return wait_for(end(), plan);
  }
}

// The client hands over a message with `bytes` of data; without a link nothing happens.
ReplayMachine::Sent ReplayMachine::send(double bytes) {
  if (!x_link) return {x_host, x_host};
  x_host.add(Term::Host, x_link->command_ns);
  const double ns = x_link->put(bytes + MessageBytes);
  x_horizon.wait(x_up, x_host);
  x_up.add(Term::Bandwidth, ns);
  x_work.up_ns += ns;
  Sent sent{x_up, x_up};
  sent.arrived.add(Term::Latency, x_link->latency_ns);
  return sent;
}

// When what is ready at the server is at the client.
ReplayClock ReplayMachine::receive(const ReplayClock& from, double bytes) {
  if (!x_link) return from;
  ReplayClock here = from;
  if (bytes > 0) {  // a bare completion is told among others
    const double ns = x_link->get(bytes + MessageBytes);
    x_horizon.wait(x_down, from);
    x_down.add(Term::Bandwidth, ns);
    x_work.down_ns += ns;
    here = x_down;
  }
  here.add(Term::Latency, x_link->latency_ns);
  return here;
}

// The driver's own work: on the server, or in the program's thread.
void ReplayMachine::serve(const Sent& sent, double ns) {
  if (!x_link) {
    x_host.add(Term::Host, ns);
    x_server = x_host;
    return;
  }
  x_horizon.wait(x_server, sent.arrived);
  x_server.add(Term::Host, ns);
}

void ReplayMachine::wait_for(const ReplayClock& clock, const TimedCall& plan) {
  const double before = x_host.at;
  x_horizon.wait(x_host, clock);
  x_work.waited_ns += x_host.at - before;
  x_work.measured_ns += plan.host_ns;
  x_work.waits += 1;
  x_host.add(Term::Host, x_wake_ns);
}

void ReplayMachine::command(const TimedCall& plan, std::span<const int64_t> row) {
  const bool waits = blocks(plan, row);
  const Sent sent = send(plan.put_bytes);
  serve(sent, waits ? 0 : plan.host_ns);
  QueueState& q = queue(plan.queue, row);
  ReplayClock start = x_horizon.later(x_server, q.out_of_order ? q.barrier : q.last);
  for (const TimedCall::Ref& ref : plan.waits)
    if (const EventState* e = find_event(ref, row)) x_horizon.wait(start, e->done);
  if (plan.sync != TimedCall::Sync::None && plan.waits.empty()) x_horizon.wait(start, q.last);

  ReplayClock done = start;
  if (plan.device_ns > 0) {
    const auto engine = static_cast<size_t>(plan.engine);
    ReplayClock& busy = x_devices[q.device][engine];
    x_horizon.wait(done, busy);
    done.add(Term::Device, plan.device_ns);
    busy = done;
    x_work.engine_ns[engine] += plan.device_ns;
  }
  const ReplayClock known = receive(done, plan.get_bytes);
  x_horizon.wait(q.last, done);
  x_horizon.wait(q.known, known);
  if (plan.sync == TimedCall::Sync::Barrier) x_horizon.wait(q.barrier, done);
  if (plan.made_event.known()) remember(plan.made_event, row, done, known);
  if (!waits) return;
  const bool leaves = x_link && plan.engine == TimedCall::Engine::ToDevice;
  if (!leaves) x_work.replies += 1;
  wait_for(leaves ? sent.left : known, plan);
}

void ReplayMachine::wait_for_queue(const TimedCall& plan, std::span<const int64_t> row) {
  const Sent sent = send(0);
  serve(sent, 0);
  QueueState& q = queue(plan.queue, row);
  ReplayClock ended = receive(x_horizon.later(x_server, q.last), 0);
  x_horizon.wait(ended, q.known);
  x_work.replies += 1;
  wait_for(ended, plan);
}

void ReplayMachine::reply(const TimedCall& plan) {
  serve(send(plan.put_bytes), plan.host_ns);
  if (!x_link) return;
  x_work.replies += 1;
  x_horizon.wait(x_host, receive(x_server, plan.get_bytes));
}

void ReplayMachine::make_queue(const TimedCall& plan, std::span<const int64_t> row) {
  serve(send(0), plan.host_ns);
  if (!plan.queue.known()) return;
  QueueState& q = queue(plan.queue, row);
  q.out_of_order = is_out_of_order(plan, row);
  q.device = device(plan.device.known() ? key_of(plan.device, row) : 0);
}

ReplayClock ReplayMachine::end() {
  ReplayClock out = x_host;
  for (const QueueState& q : x_queues) x_horizon.wait(out, q.known);
  return out;
}

QueueState& ReplayMachine::queue(const TimedCall::Ref& ref, std::span<const int64_t> row) {
  uint64_t key = ref.known() ? key_of(ref, row) : 0;
  if (x_queues.size() >= MaxQueues) key &= ~uint64_t{0xffffffff};
  for (QueueState& q : x_queues)
    if (q.key == key) return q;
  x_queues.emplace_back().key = key;
  x_queues.back().device = device(0);
  return x_queues.back();
}

uint32_t ReplayMachine::device(uint64_t key) {
  auto at = std::find(x_device_keys.begin(), x_device_keys.end(), key);
  if (at == x_device_keys.end() && x_devices.size() == MaxDevices) --at;
  if (at == x_device_keys.end()) {
    x_device_keys.push_back(key);
    x_devices.emplace_back();
    at = x_device_keys.end() - 1;
  }
  return static_cast<uint32_t>(at - x_device_keys.begin());
}

EventFamily* ReplayMachine::family(model::ClassId cls) {
  const uint32_t at = cls < x_family_of.size() ? x_family_of[cls] : 0;
  return at == 0 ? nullptr : &x_events[at - 1];
}

const EventState* ReplayMachine::find_event(const TimedCall::Ref& ref, std::span<const int64_t> row) {
  const EventFamily* f = family(ref.cls);
  if (!f) return nullptr;  // an event that another thread made
  for (size_t i = 0; i < f->recent.size(); ++i) {
    if (f->recent[i].slot != row[ref.value]) continue;
    note(i + 2);
    return &f->recent[i];
  }
  note(1);
  return &f->older;
}

void ReplayMachine::remember(const TimedCall::Ref& ref, std::span<const int64_t> row, const ReplayClock& done,
                             const ReplayClock& known) {
  if (!family(ref.cls)) {
    x_events.emplace_back();
    x_family_of.resize(std::max<size_t>(x_family_of.size(), size_t{ref.cls} + 1));
    x_family_of[ref.cls] = static_cast<uint32_t>(x_events.size());
  }
  EventFamily& events = *family(ref.cls);
  std::vector<EventState>& recent = events.recent;
  const int64_t slot = row[ref.value];
  const auto old = std::find_if(recent.begin(), recent.end(), [&](const EventState& e) { return e.slot == slot; });
  if (old != recent.end()) {
    recent.erase(old);
  } else if (recent.size() == EventFamily::Remembered) {
    x_horizon.wait(events.older.done, recent.back().done);
    x_horizon.wait(events.older.known, recent.back().known);
    recent.pop_back();
  }
  recent.insert(recent.begin(), EventState{slot, done, known});
}

uint64_t ReplayMachine::shape() const {
  uint64_t out = x_queues.size() * 1'000'003 + x_devices.size() * 1009;
  for (const EventFamily& f : x_events) out = out * 31 + f.recent.size() + 1;
  return out;
}

}  // namespace gt::analyzer
