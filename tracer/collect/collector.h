// The collector: turns the records of a run into a Trace while the program runs.
//
//   record ──► Threads: whose is it? ──► OpenClCalls ──► CallNaming: decode, name ──► CallList ──► fold, statistics
//                       │                   ▲
//                       │                   └── CallbackThreads: is it a callback's?
//                       └──► MemoryCalls: decode, name, fold, statistics
//
// All of them fill the tables of one trace (TraceTables). Memory: grows with the number of distinct shapes and with
// what does not fold, not with the number of calls. Thread safety: none; one collector, one thread.
#pragma once

#include "tracer/collect/call_list.h"
#include "tracer/collect/call_naming.h"
#include "tracer/collect/counted_calls.h"
#include "tracer/collect/callback_threads.h"
#include "tracer/collect/devices.h"
#include "tracer/collect/kept_contents.h"
#include "tracer/collect/memory_calls.h"
#include "tracer/collect/opencl_calls.h"
#include "tracer/collect/places.h"
#include "tracer/collect/program_files.h"
#include "tracer/collect/program_texts.h"
#include "tracer/collect/registered_callbacks.h"
#include "tracer/collect/size_budget.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/collect/threads.h"
#include "tracer/collect/tick_clock.h"
#include "tracer/collect/trace_tables.h"

namespace gt::tracer {

class Collector {
 public:
  explicit Collector(double ns_per_tick, uint64_t start_ticks);
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  void limit_size(uint64_t max_bytes) { budget_ = SizeBudget(max_bytes); }
  // The bytes of contents go into a new file there, which gets three quarters of the limit at most. Before the first
  // record.
  Status keep_contents(const std::string& path) {
    const uint64_t most = budget_.max_bytes();
    list_.keep_times();  // who makes the calls again needs the order of threads
    return contents_.keep_in(path, most - most / 4);
  }
  void commit_contents() { contents_.commit(); }
  void close_contents() { contents_.close(); }
  // Calls of blocks that hold less were counted, in tables that take_counts() is given; 0: none was.
  void list_from(uint64_t bytes) { listed_from_ = bytes; }
  // Each call's time goes into its stream's timeline. Before the first record.
  void keep_times();

  void take(const RecordView& record);
  void ring_ended(uint32_t ring) {
    callbacks_.ring_ended(ring);
    memory_.ring_ended(ring);
  }

  // Of a ring whose thread has ended, or at the end: what it has counted since the last time.
  void take_counts(const RingHeader& ring, const CallCounts& counts) {
    counted_.take(threads_.process_of(ring), counts);
  }
  void note_uncounted(uint64_t processes) { uncounted_processes_ = processes; }

  void stop_threads() { memory_.stop_thread(); }  // before a fork: a copy has none of them
  void program_ended() { memory_.program_ended(); }  // nobody records any more: all processors may be used

  uint64_t calls() const { return calls_.calls(); }
  uint64_t memory_calls() const { return memory_.calls(); }

  // The trace so far; calls that were entered and have not returned appear as unfinished. Ends this
  // collector.
  model::Trace finish();

 private:
  bool take_of_thread(const RecordView& record);
  void take_device(const TracedThread& thread, const RecordView& record);
  void keep_within_budget();
  void end_open_calls();
  uint64_t add_streams();
  uint64_t add_counted();
  void add_facts(uint64_t unlisted_calls, uint64_t counted_of_helpers);

  TickClock clock_;
  TraceTables tables_;
  Devices devices_;
  Threads threads_;
  Places places_;
  ProgramTexts texts_;
  MemoryCalls memory_;
  CountedCalls counted_{tables_};
  CallNaming naming_;
  RegisteredCallbacks registered_;
  CallList list_;
  KeptContents contents_;
  ProgramFiles files_;
  OpenClCalls calls_;
  CallbackThreads callbacks_;
  SizeBudget budget_;
  bool keep_times_ = false;
  uint64_t listed_from_ = 0, uncounted_processes_ = 0;
  uint64_t records_ = 0, undecodable_ = 0;
};

}  // namespace gt::tracer
