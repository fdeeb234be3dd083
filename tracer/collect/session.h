// One recording: a spool, a collector that drains it, and the facts that only the recording side
// knows. Thread safety: none.
#pragma once

#include <memory>
#include <string>

#include "tracer/collect/backlog.h"
#include "tracer/collect/collector.h"
#include "tracer/collect/spool_reader.h"
#include "traces/base/status.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

class Session {
 public:
  // A spool that SpoolReader::create() made and that this process drains from now on.
  explicit Session(SpoolReader reader);
  // A spool whose collector died: what it still holds.
  static Result<std::unique_ptr<Session>> recover(const std::string& spool_path);
  ~Session();  // remove_spool()

  SpoolHeader& header() { return reader_.header(); }
  const std::string& spool_path() const { return reader_.path(); }
  void keep_spool() { keep_ = true; }
  void remove_spool();  // unless keep_spool() was called
  void discard();       // everything was taken, whoever the spool belonged to
  // What the collector does not come to in time is moved into a file there; 0: it may take half of what is free. Before
  // the first pump().
  void spill_to(const std::string& path, uint64_t most_bytes) { backlog_.spill_to(path, most_bytes); }
  // Nobody records any more: nobody would wait for us, or needs a processor of his own.
  void program_ended() {
    backlog_.stop_moving();
    collector_.program_ended();
  }
  const Status& spill_trouble() const { return backlog_.trouble(); }  // why that could not be done, the first time

  // Each call's time goes into the trace. Before the first pump().
  void keep_times() { collector_.keep_times(); }
  // With --capture full: the bytes of contents go into a new file there. Before the first pump().
  Status keep_contents(const std::string& path) { return collector_.keep_contents(path); }

  // For a caller who has others to listen to: what it takes at a time.
  static constexpr uint64_t Portion = 1 << 16;
  // Takes what is there, or about `most` records of it. Returns their number: 0 means that the caller may sleep.
  uint64_t pump(uint64_t most = Backlog::All);
  void stop_threads() { collector_.stop_threads(); }  // before a fork
  uint64_t waiting_bytes() const { return backlog_.waiting_bytes(); }  // of records that are there to be taken
  // Nobody writes any more: takes the rest and gives the trace. Call once.
  model::Trace finish();
  // REQUIRES: this process is a forked copy of the one that records, and ends soon. The trace as it stands now;
  // `cpu_ns` is what recording has cost the original.
  model::Trace snapshot(uint64_t cpu_ns);

  uint64_t cpu_ns() const;  // processor time spent on this recording, snapshots included
  const Collector& collector() const { return collector_; }

 private:
  void take_counts();  // of all rings
  void add_facts(model::Trace& trace, const char* state, uint64_t cpu_ns);

  SpoolReader reader_;
  Collector collector_;
  Backlog backlog_;
  uint64_t records_ = 0;
  uint64_t cpu_begin_ns_;
  bool recovers_ = false;
  bool keep_ = false;
};

}  // namespace gt::tracer
