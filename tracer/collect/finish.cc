// The end: everything that the collector knows, as a Trace.
#include <algorithm>

#include <fmt/format.h>

#include "tracer/collect/collector.h"
#include "tracer/collect/family_order.h"

namespace gt::tracer {

model::Trace Collector::finish() {
  model::Trace& trace = tables_.trace;
  end_open_calls();
  list_.finish();
  keep_within_budget();
  int64_t clock_error_ns = 0;
  for (TracedDevice& device : devices_.all()) {
    device.clock.settle();
    clock_error_ns = std::max(clock_error_ns, device.clock.error_ns());
  }
  const uint64_t unlisted_calls = add_streams(), counted_of_helpers = add_counted();
  tables_.settle_chains();
  add_facts(unlisted_calls, counted_of_helpers);
  std::vector<interpose::ThreadPath> paths;
  for (const auto& thread : threads_.all()) paths.push_back(thread->path);
  put_in_family_order(trace, paths);
  model::add_fresh_facts(trace, list_.fresh());
  model::add_origin_facts(trace, texts_.origins());
  for (const TracedDevice& device : devices_.all()) {
    if (!device.name.empty()) trace.facts.emplace_back(fmt::format("device.{}", device.slot), device.name);
  }
  if (keep_times_) trace.facts.emplace_back("timeline.device_clock_error_ns", fmt::format("{}", clock_error_ns));
  return std::move(trace);
}

void Collector::end_open_calls() {
  for (const auto& thread : threads_.all()) {
    memory_.end_open(*thread);
    callbacks_.end_open(*thread);
    calls_.end_open(*thread, clock_.last_ticks());
  }
}

// Returns how many memory calls are not listed.
uint64_t Collector::add_streams() {
  model::Trace& trace = tables_.trace;
  const auto times = [](const model::TimelineBuilder* timeline) { return timeline ? timeline->encode() : Bytes(); };
  uint64_t unlisted_calls = 0;
  std::vector<bool> unlisted(trace.threads.size());
  for (const auto& thread : threads_.all()) {
    // Helpers that the program or its driver started (shells, linkers) and that never used OpenCL:
    // their allocations are counted, not listed. The first process is always listed.
    const bool listed = thread->process->index == 0 || thread->process->calls > 0;
    if (const model::Folder* calls = list_.stream(*thread))
      trace.streams.push_back({thread->id, false, calls->snapshot(), times(list_.times(*thread))});
    const model::Folder* memory = memory_.stream(*thread);
    if (memory && listed) {
      trace.streams.push_back({thread->id, true, memory->snapshot(), times(memory_.times(*thread))});
    } else if (memory) {
      unlisted_calls += memory->events();
      unlisted[thread->id] = true;
    }
  }
  for (size_t i = 0; i < trace.shapes.size(); ++i) {
    if (unlisted[trace.shapes[i].thread]) trace.stats[i] = {};
  }
  return unlisted_calls;
}

// Of the calls that were only counted; returns those of helpers. Before the chains of sites are settled: these have
// sites, too.
uint64_t Collector::add_counted() {
  if (listed_from_ == 0) return 0;
  uint64_t of_helpers = 0;
  model::MemoryDetail detail = counted_.rows(
      [](const TracedProcess& process) { return process.index == 0 || process.calls > 0; }, of_helpers);
  detail.from = listed_from_;
  detail.whole_processes = uncounted_processes_;
  model::add_detail_facts(tables_.trace, detail);
  return of_helpers;
}

void Collector::add_facts(uint64_t unlisted_calls, uint64_t counted_of_helpers) {
  model::Trace& trace = tables_.trace;
  const auto fact = [&](const char* name, uint64_t value) {
    trace.facts.emplace_back(name, fmt::format("{}", value));
  };
  fact("calls", calls());
  fact("callbacks", callbacks_.callbacks());
  fact("memory_calls", memory_calls() - unlisted_calls);
  fact("lost.memory_calls_of_helpers", unlisted_calls + counted_of_helpers);
  if (const Summarised left_out = summarised(trace); budget_.limited()) {
    fact("max_size", budget_.max_bytes());
    fact("summarised.values", left_out.values);
    fact("summarised.calls", left_out.calls);
    fact("summarised.memory_calls", left_out.memory_calls);
  }
  uint64_t timed = 0, estimated = 0, untimed = 0;
  for (const model::DeviceTime& time : trace.devices) {
    timed += time.kernels + time.transfers;
    estimated += time.estimated_kernels + time.estimated_transfers;
    untimed += time.untimed_kernels + time.untimed_transfers;
  }
  fact("commands_timed", timed);
  fact("commands_estimated", estimated);
  fact("commands_untimed", untimed);
  if (calls_.capture_ticks() > 0) {
    uint64_t forgotten = 0;
    for (const auto& process : threads_.processes()) forgotten += process->contents.forgotten();
    fact("lost.contents_forgotten", forgotten);
    fact("overhead.capture_ns", clock_.to_ns(calls_.capture_ticks()));
  }
  contents_.add_facts(trace.facts);
  calls_.device_contents().add_facts(trace.facts);
  if (contents_.kept()) {
    files_.add_facts(trace.facts);
    fact("lost.contents_unwaited", calls_.unwaited());
    fact("lost.shared_memory_unseen", calls_.shared_unseen());
  }
  if (calls_.fresh_ticks() > 0) fact("overhead.fresh_ns", clock_.to_ns(calls_.fresh_ticks()));
  if (devices_.timed.left_out() > 0) fact("lost.times_of_queues", devices_.timed.left_out());
  fact("foreign_releases", memory_.foreign_releases());
  fact("lost.undecodable_records", undecodable_);
  fact("wall_ns", clock_.last_time());
}

void Collector::keep_within_budget() {
  if (!budget_.limited()) return;
  std::vector<model::Folder*> streams;
  for (const auto& thread : threads_.all()) {
    for (model::Folder* f : {list_.stream(*thread), memory_.stream(*thread)}) {
      if (f) streams.push_back(f);
    }
  }
  budget_.enforce(streams, tables_.trace, contents_.file_bytes());
}

}  // namespace gt::tracer
