// One recording: a spool, a collector that drains it, and the facts that only the recording side
// knows. Thread safety: none.
#pragma once

#include <string>

#include "tracer/collect/collector.h"
#include "tracer/collect/spool_reader.h"
#include "traces/base/status.h"
#include "traces/model/event.h"

namespace gt::tracer {

class Session {
 public:
  static Result<std::unique_ptr<Session>> begin(const SpoolReader::Options& options);
  // A spool whose collector died: what it still holds.
  static Result<std::unique_ptr<Session>> recover(const std::string& spool_path);
  ~Session();  // removes the spool, unless keep_spool() was called

  const std::string& spool_path() const { return reader_.path(); }
  void keep_spool() { keep_ = true; }

  // Each call's time goes into the trace. Before the first pump().
  void keep_times() { collector_.keep_times(); }

  // Takes what is there. Returns the number of records: 0 means that the caller may sleep.
  uint64_t pump();
  // Nobody writes any more: takes the rest and gives the trace. Call once.
  model::Trace finish();

  const Collector& collector() const { return collector_; }

 private:
  explicit Session(SpoolReader reader);
  void add_facts(model::Trace& trace);

  SpoolReader reader_;
  Collector collector_;
  uint64_t pumps_ = 0, records_ = 0;
  uint64_t cpu_begin_ns_;
  bool keep_ = false;
};

}  // namespace gt::tracer
