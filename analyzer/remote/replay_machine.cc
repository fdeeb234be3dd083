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
  host_.add(Term::Host, plan.gap_ns);
  switch (plan.kind) {
    case TimedCall::Kind::Local:
      return host_.add(Term::Host, plan.host_ns);
    case TimedCall::Kind::Post: {
      serve(send(plan.put_bytes), plan.host_ns);
      if (plan.made_event.known()) remember(plan.made_event, row, server_, host_);
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
      ReplayClock latest = host_;
      for (const TimedCall::Ref& ref : plan.waits)
        if (const EventState* e = find_event(ref, row)) horizon_.wait(latest, e->known);
      return wait_for(latest, plan);
    }
    case TimedCall::Kind::WaitAll:
      return wait_for(end(), plan);
  }
}

// The client hands over a message with `bytes` of data; without a link nothing happens.
ReplayMachine::Sent ReplayMachine::send(double bytes) {
  if (!link_) return {host_, host_};
  host_.add(Term::Host, link_->command_ns);
  const double ns = link_->put(bytes + MessageBytes);
  horizon_.wait(up_, host_);
  up_.add(Term::Bandwidth, ns);
  work_.up_ns += ns;
  Sent sent{up_, up_};
  sent.arrived.add(Term::Latency, link_->latency_ns);
  return sent;
}

// When what is ready at the server is at the client.
ReplayClock ReplayMachine::receive(const ReplayClock& from, double bytes) {
  if (!link_) return from;
  ReplayClock here = from;
  if (bytes > 0) {  // a bare completion is told among others
    const double ns = link_->get(bytes + MessageBytes);
    horizon_.wait(down_, from);
    down_.add(Term::Bandwidth, ns);
    work_.down_ns += ns;
    here = down_;
  }
  here.add(Term::Latency, link_->latency_ns);
  return here;
}

// The driver's own work: on the server, or in the program's thread.
void ReplayMachine::serve(const Sent& sent, double ns) {
  if (!link_) {
    host_.add(Term::Host, ns);
    server_ = host_;
    return;
  }
  horizon_.wait(server_, sent.arrived);
  server_.add(Term::Host, ns);
}

void ReplayMachine::wait_for(const ReplayClock& clock, const TimedCall& plan) {
  const double before = host_.at;
  horizon_.wait(host_, clock);
  work_.waited_ns += host_.at - before;
  work_.measured_ns += plan.host_ns;
  work_.waits += 1;
  host_.add(Term::Host, wake_ns_);
}

void ReplayMachine::command(const TimedCall& plan, std::span<const int64_t> row) {
  const bool waits = blocks(plan, row);
  const Sent sent = send(plan.put_bytes);
  serve(sent, waits ? 0 : plan.host_ns);
  QueueState& q = queue(plan.queue, row);
  ReplayClock start = horizon_.later(server_, q.out_of_order ? q.barrier : q.last);
  for (const TimedCall::Ref& ref : plan.waits)
    if (const EventState* e = find_event(ref, row)) horizon_.wait(start, e->done);
  if (plan.sync != TimedCall::Sync::None && plan.waits.empty()) horizon_.wait(start, q.last);

  ReplayClock done = start;
  if (plan.device_ns > 0) {
    const auto engine = static_cast<size_t>(plan.engine);
    ReplayClock& busy = devices_[q.device][engine];
    horizon_.wait(done, busy);
    done.add(Term::Device, plan.device_ns);
    busy = done;
    work_.engine_ns[engine] += plan.device_ns;
  }
  const ReplayClock known = receive(done, plan.get_bytes);
  horizon_.wait(q.last, done);
  horizon_.wait(q.known, known);
  if (plan.sync == TimedCall::Sync::Barrier) horizon_.wait(q.barrier, done);
  if (plan.made_event.known()) remember(plan.made_event, row, done, known);
  if (!waits) return;
  const bool leaves = link_ && plan.engine == TimedCall::Engine::ToDevice;
  if (!leaves) work_.replies += 1;
  wait_for(leaves ? sent.left : known, plan);
}

void ReplayMachine::wait_for_queue(const TimedCall& plan, std::span<const int64_t> row) {
  const Sent sent = send(0);
  serve(sent, 0);
  QueueState& q = queue(plan.queue, row);
  ReplayClock ended = receive(horizon_.later(server_, q.last), 0);
  horizon_.wait(ended, q.known);
  work_.replies += 1;
  wait_for(ended, plan);
}

void ReplayMachine::reply(const TimedCall& plan) {
  serve(send(plan.put_bytes), plan.host_ns);
  if (!link_) return;
  work_.replies += 1;
  horizon_.wait(host_, receive(server_, plan.get_bytes));
}

void ReplayMachine::make_queue(const TimedCall& plan, std::span<const int64_t> row) {
  serve(send(0), plan.host_ns);
  if (!plan.queue.known()) return;
  QueueState& q = queue(plan.queue, row);
  q.out_of_order = is_out_of_order(plan, row);
  q.device = device(plan.device.known() ? key_of(plan.device, row) : 0);
}

ReplayClock ReplayMachine::end() {
  ReplayClock out = host_;
  for (const QueueState& q : queues_) horizon_.wait(out, q.known);
  return out;
}

QueueState& ReplayMachine::queue(const TimedCall::Ref& ref, std::span<const int64_t> row) {
  uint64_t key = ref.known() ? key_of(ref, row) : 0;
  if (queues_.size() >= MaxQueues) key &= ~uint64_t{0xffffffff};
  for (QueueState& q : queues_)
    if (q.key == key) return q;
  queues_.emplace_back().key = key;
  queues_.back().device = device(0);
  return queues_.back();
}

uint32_t ReplayMachine::device(uint64_t key) {
  auto at = std::find(device_keys_.begin(), device_keys_.end(), key);
  if (at == device_keys_.end() && devices_.size() == MaxDevices) --at;
  if (at == device_keys_.end()) {
    device_keys_.push_back(key);
    devices_.emplace_back();
    at = device_keys_.end() - 1;
  }
  return static_cast<uint32_t>(at - device_keys_.begin());
}

EventFamily* ReplayMachine::family(model::ClassId cls) {
  const uint32_t at = cls < family_of_.size() ? family_of_[cls] : 0;
  return at == 0 ? nullptr : &events_[at - 1];
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
    events_.emplace_back();
    family_of_.resize(std::max<size_t>(family_of_.size(), size_t{ref.cls} + 1));
    family_of_[ref.cls] = static_cast<uint32_t>(events_.size());
  }
  EventFamily& events = *family(ref.cls);
  std::vector<EventState>& recent = events.recent;
  const int64_t slot = row[ref.value];
  const auto old = std::find_if(recent.begin(), recent.end(), [&](const EventState& e) { return e.slot == slot; });
  if (old != recent.end()) {
    recent.erase(old);
  } else if (recent.size() == EventFamily::Remembered) {
    horizon_.wait(events.older.done, recent.back().done);
    horizon_.wait(events.older.known, recent.back().known);
    recent.pop_back();
  }
  recent.insert(recent.begin(), EventState{slot, done, known});
}

uint64_t ReplayMachine::shape() const {
  uint64_t out = queues_.size() * 1'000'003 + devices_.size() * 1009;
  for (const EventFamily& f : events_) out = out * 31 + f.recent.size() + 1;
  return out;
}

}  // namespace gt::analyzer
