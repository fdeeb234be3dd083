#include "tracer/collect/call_list.h"

#include <cstring>
#include <type_traits>
#include <utility>

namespace gt::tracer {

static bool same_shape(const model::Shape& a, const model::Shape& b) {
  static_assert(std::has_unique_object_representations_v<model::Arg>);
  return a.fn == b.fn && a.site == b.site && a.thread == b.thread && a.unfinished == b.unfinished &&
         a.moves == b.moves &&
         a.args.size() == b.args.size() &&
         std::memcmp(a.args.data(), b.args.data(), a.args.size() * sizeof(model::Arg)) == 0;
}

// Thread ids are unique on a machine and outlive their rings.
static uint64_t timed_key(uint64_t tid, uint64_t sequence) { return (tid << 40) | sequence; }

model::ShapeId CallList::shape_of(State& state, const model::Shape& shape) {
  model::ShapeId& next = state.next_shape[mix(state.last_shape, shape.site) % state.next_shape.size()];
  if (next >= trace_.shapes.size() || !same_shape(trace_.shapes[next], shape)) next = tables_.intern_shape(shape);
  return state.last_shape = next;
}

void CallList::add_call(const TracedThread& thread, uint64_t ns, bool timed) {
  const PendingCall& call = thread.pending;
  State& state = of(thread);
  const bool unfinished = call.shape.unfinished;
  const model::ShapeId shape = shape_of(state, call.shape);
  model::ShapeStats& stats = trace_.stats[shape];
  if (stats.calls++ == 0) stats.first_host_ns = ns;
  stats.failed += call.error;
  if (!unfinished) stats.host_ns.add(ns);
  if (call.bytes) stats.bytes.add(call.bytes);
  state.stream.push(shape, call.values);
  if (state.times) {
    state.times->add_event(clock_.time_of(call.ticks), unfinished ? std::nullopt : std::optional(ns));
  }
  if (call.fresh.bytes && !call.error) {
    model::FreshBytes& sum = fresh_[shape];
    sum.bytes += call.fresh.bytes;
    sum.fresh += call.fresh.fresh;
  }
  if (call.device != 0 && !call.error) add_command(thread, state, shape, timed);
}

void CallList::add_command(const TracedThread& thread, State& state, model::ShapeId shape, bool timed) {
  const PendingCall& call = thread.pending;
  const api::Attributes& attributes = *call.attributes;
  const bool launch = attributes.launch && !attributes.records;
  const CommandTimes::Command command{shape,       static_cast<uint32_t>(call.device - 1), launch, call.shape.moves,
                                      call.timed_queue, call.timed_context};
  if (timed) {
    const uint64_t key = timed_key(static_cast<uint64_t>(thread.tid), call.sequence);
    times_.expect(key, command);
    if (!state.times) return;
    placed_[key] = {&state, command.device, state.stream.events() - 1, clock_.time_of(call.ticks)};
    state.times->expect_command();
  } else if (attributes.replays >= 0) {
    times_.leave_untimed(command, call.recorded.launches.size(), call.recorded.transfers);
  } else if (launch || call.shape.moves != model::Direction::None) {
    times_.skip(command);
  }
}

model::ShapeId CallList::add_callback(const TracedThread& callback_thread, std::optional<uint64_t> ns) {
  const PendingCall& call = callback_thread.pending;
  State& state = of(callback_thread);
  const model::ShapeId callback = tables_.intern_shape(call.shape);
  ++trace_.stats[callback].calls;
  state.stream.push(callback, call.values);
  if (state.times) state.times->add_event(clock_.time_of(call.ticks), ns);
  return callback;
}

void CallList::callback_took(model::ShapeId callback, uint64_t ns) {
  model::ShapeStats& stats = trace_.stats[callback];
  if (stats.host_ns.count == 0) stats.first_host_ns = ns;
  stats.host_ns.add(ns);
}

void CallList::take_device_time(const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t tid = in.fixed64(), sequence = in.fixed64(), start = in.fixed64(),
                 end = in.fixed64();
  if (!in.ok()) return;
  const uint64_t key = timed_key(tid, sequence);
  const bool sane = times_.take(key, start, end, trace_.stats);
  const auto it = placed_.find(key);
  if (it == placed_.end()) return;
  const Placed command = it->second;
  placed_.erase(it);
  if (!sane) return command.state->times->add_command(command.event, nullptr, 0, 0);
  model::DeviceClock& clock = devices_[command.device].clock;
  clock.add(command.entry_ns, start, end, clock_.time_of(record.header.ticks));
  command.state->times->add_command(command.event, &clock, start, end - start);
}

model::Folder* CallList::stream(const TracedThread& thread) const {
  State* state = states_.find(thread);
  return state && state->stream.events() > 0 ? &state->stream : nullptr;
}

const model::TimelineBuilder* CallList::times(const TracedThread& thread) const {
  const State* state = states_.find(thread);
  return state ? state->times.get() : nullptr;
}

void CallList::finish() {
  CommandTimes::Times times = times_.times(trace_.stats);
  std::vector<uint32_t> rank(times.devices.size(), model::NoIndex);
  for (uint32_t i = 0; i < times.devices.size(); ++i) {
    if (times.devices[i].commands() == 0) continue;
    rank[i] = static_cast<uint32_t>(trace_.devices.size());
    times.devices[i].device = devices_[i].name;
    trace_.devices.push_back(std::move(times.devices[i]));
  }
  for (uint32_t i = 0; i < times.objects.size(); ++i) {
    const auto& [object, device] = devices_.timed.objects()[i];
    if (times.objects[i].commands() > 0)
      trace_.object_times.push_back({object.cls, object.slot, rank[device], std::move(times.objects[i])});
  }
  times_.complete(trace_.stats);
}

}  // namespace gt::tracer
