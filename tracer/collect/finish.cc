// The end of a run: what the collector knows, as a Trace.
#include <algorithm>

#include <fmt/format.h>

#include "tracer/collect/collector.h"
#include "tracer/collect/collector_state.h"
#include "tracer/collect/family_order.h"

namespace gt::tracer {

model::Trace Collector::finish() {
  for (auto& thread : threads_) {
    if (thread->memory_call.open) end_memory_call(*thread, true);
    if (thread->running) list_callback(*thread, true);
    if (thread->pending.open) end_call(*thread, true, last_ticks_, false);
  }
  add_device_times();
  times_.complete(trace_.stats);

  keep_within_budget();
  int64_t clock_error_ns = 0;
  for (auto& device : devices_) {
    device->clock.settle();
    clock_error_ns = std::max(clock_error_ns, device->clock.error_ns());
  }
  const auto times = [](const auto& timeline) { return timeline ? timeline->encode() : Bytes(); };
  uint64_t unlisted_calls = 0;
  std::vector<bool> unlisted(trace_.threads.size());
  for (auto& thread : threads_) {
    // Helpers that the program or its driver started (shells, linkers) and that never used OpenCL:
    // their allocations are counted, not listed. The first process is always listed.
    const bool listed = thread->process->index == 0 || thread->process->calls > 0;
    if (thread->calls.events() > 0)
      trace_.streams.push_back({thread->id, false, thread->calls.snapshot(), times(thread->call_times)});
    if (thread->memory.events() > 0) {
      if (listed) {
        trace_.streams.push_back({thread->id, true, thread->memory.snapshot(), times(thread->memory_times)});
      } else {
        unlisted_calls += thread->memory.events();
        unlisted[thread->id] = true;
      }
    }
  }
  for (size_t i = 0; i < trace_.shapes.size(); ++i) {
    if (unlisted[trace_.shapes[i].thread]) trace_.stats[i] = {};
  }
  chains_.settle(trace_);
  const auto fact = [&](const char* name, uint64_t value) {
    trace_.facts.emplace_back(name, fmt::format("{}", value));
  };
  fact("calls", calls_);
  fact("callbacks", callbacks_);
  fact("memory_calls", memory_calls_ - unlisted_calls);
  fact("lost.memory_calls_of_helpers", unlisted_calls);
  if (const Summarised left_out = summarised(trace_); budget_.limited()) {
    fact("max_size", budget_.max_bytes());
    fact("summarised.values", left_out.values);
    fact("summarised.calls", left_out.calls);
    fact("summarised.memory_calls", left_out.memory_calls);
  }
  uint64_t timed = 0, estimated = 0, untimed = 0;
  for (const model::DeviceTime& time : trace_.devices) {
    timed += time.kernels + time.transfers;
    estimated += time.estimated_kernels + time.estimated_transfers;
    untimed += time.untimed_kernels + time.untimed_transfers;
  }
  fact("commands_timed", timed);
  fact("commands_estimated", estimated);
  fact("commands_untimed", untimed);
  if (capture_ticks_ > 0) {
    uint64_t forgotten = 0;
    for (const auto& process : processes_) forgotten += process->contents.forgotten();
    fact("lost.contents_forgotten", forgotten);
    fact("overhead.capture_ns", to_ns(capture_ticks_));
  }
  if (timed_.left_out() > 0) fact("lost.times_of_queues", timed_.left_out());
  fact("foreign_releases", foreign_releases_);
  fact("lost.undecodable_records", undecodable_);
  fact("wall_ns", to_ns(last_ticks_ > start_ticks_ ? last_ticks_ - start_ticks_ : 0));
  std::vector<interpose::ThreadPath> paths;
  for (const auto& thread : threads_) paths.push_back(thread->path);
  put_in_family_order(trace_, paths);
  model::add_origin_facts(trace_, origins_);
  if (keep_times_) fact("timeline.device_clock_error_ns", static_cast<uint64_t>(clock_error_ns));
  return std::move(trace_);
}

// Only of what had commands.
void Collector::add_device_times() {
  CommandTimes::Times times = times_.times(trace_.stats);
  std::vector<uint32_t> rank(times.devices.size(), model::NoIndex);
  for (uint32_t i = 0; i < times.devices.size(); ++i) {
    if (times.devices[i].commands() == 0) continue;
    rank[i] = static_cast<uint32_t>(trace_.devices.size());
    times.devices[i].device = devices_[i]->name;
    trace_.devices.push_back(std::move(times.devices[i]));
  }
  for (uint32_t i = 0; i < times.objects.size(); ++i) {
    const auto& [object, device] = timed_.objects()[i];
    if (times.objects[i].commands() > 0)
      trace_.object_times.push_back({object.cls, object.slot, rank[device], std::move(times.objects[i])});
  }
}

void Collector::keep_within_budget() {
  if (!budget_.limited()) return;
  std::vector<model::Folder*> streams;
  for (auto& thread : threads_) {
    for (model::Folder* f : {&thread->calls, &thread->memory}) {
      if (f->events() > 0) streams.push_back(f);
    }
  }
  budget_.enforce(streams, trace_);
}

}  // namespace gt::tracer
