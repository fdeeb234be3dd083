// The processes and threads of the trace, and which of them writes into which ring.
//
// Thread safety: none. Cost: a thread is found by its ring's number.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "tracer/collect/spool_reader.h"
#include "tracer/collect/tick_clock.h"
#include "tracer/collect/traced_thread.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

class Threads {
 public:
  using EndCalls = std::function<void(TracedThread&)>;
  // `trace` and `clock` must outlive it. end_calls: ends the calls of a thread in whose place another one begins.
  Threads(model::Trace& trace, const TickClock& clock, EndCalls end_calls)
      : trace_(trace), clock_(clock), end_calls_(std::move(end_calls)) {}

  // The thread whose record this is.
  TracedThread& of(const RecordView& record) {
    TracedThread* const known = at(record.ring);
    return known ? *known : meet(record);
  }
  // nullptr: no thread of the trace stands for this ring (now).
  TracedThread* at(uint32_t ring) const { return ring < by_ring_.size() ? by_ring_[ring] : nullptr; }
  void put(uint32_t ring, TracedThread* thread);
  void ring_ended(uint32_t ring);
  // Enter records seen while no thread of the trace stood for the ring.
  uint64_t& driver_sequence(uint32_t ring);

  TracedThread& add(TracedProcess& process, const RingHeader& owner);
  // A thread in the place of one that has ended: for the trace the same thread, whose calls go on.
  void begin_life(TracedThread& thread, const RingHeader& owner);
  TracedProcess& process_of(const RingHeader& owner);

  void take_process(TracedThread& thread, const RecordView& record);
  bool take_module(TracedThread& thread, const RecordView& record);  // false: the record makes no sense
  static void take_chunk(TracedThread& thread, const RecordView& record);

  const std::vector<std::unique_ptr<TracedThread>>& all() const { return threads_; }
  const std::vector<std::unique_ptr<TracedProcess>>& processes() const { return processes_; }

 private:
  TracedThread& meet(const RecordView& record);

  // The last thread with each path, of a process.
  using ThreadSlots = std::map<std::vector<uint32_t>, TracedThread*>;

  model::Trace& trace_;
  const TickClock& clock_;
  EndCalls end_calls_;
  std::vector<std::unique_ptr<TracedProcess>> processes_;
  std::vector<ThreadSlots> thread_slots_;  // by process
  std::vector<std::unique_ptr<TracedThread>> threads_;
  std::vector<TracedThread*> by_ring_;
  std::vector<uint64_t> driver_sequences_;  // by ring
};

}  // namespace gt::tracer
