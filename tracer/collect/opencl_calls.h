// The life of an OpenCL call: begun by its Enter record, named, ended by its Exit record or by what shows that it will
// not return, and listed.
//
// Thread safety: none.
#pragma once

#include <algorithm>

#include "tracer/collect/call_list.h"
#include "tracer/collect/call_naming.h"
#include "tracer/collect/device_contents.h"
#include "tracer/collect/kept_contents.h"
#include "tracer/collect/memory_calls.h"
#include "tracer/collect/program_files.h"
#include "tracer/collect/registered_callbacks.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/collect/tick_clock.h"
#include "tracer/collect/traced_thread.h"

namespace gt::tracer {

class OpenClCalls {
 public:
  // All must outlive it.
  OpenClCalls(TraceTables& tables, CallNaming& naming, RegisteredCallbacks& callbacks, MemoryCalls& memory,
              CallList& list, KeptContents& contents, ProgramFiles& files, const TickClock& clock)
      : tables_(tables),
        naming_(naming),
        callbacks_(callbacks),
        memory_(memory),
        list_(list),
        contents_(contents),
        files_(files),
        clock_(clock),
        device_(tables, naming) {}

  // False, of all these: the record makes no sense.
  bool enter(TracedThread& thread, const RecordView& record);
  bool exit(TracedThread& thread, const RecordView& record, bool timed);  // REQUIRES: a call of its function is open
  bool take_content(TracedThread& thread, const RecordView& record);      // of what the open call moves
  bool take_shared(TracedThread& thread, const RecordView& record);       // of memory that it reads, or waited for
  bool take_fresh(TracedThread& thread, const RecordView& record);        // likewise

  // Begins a call without naming it: also a callback's.
  void begin(TracedThread& thread, const RecordView& record, model::SiteId site, uint64_t stack_pointer);
  // A call that is open has not returned by then, and will not.
  void end_open(TracedThread& thread, uint64_t ticks) {
    if (thread.pending.open) end(thread, true, ticks, false);
  }

  uint64_t calls() const { return calls_; }
  uint64_t capture_ticks() const { return capture_ticks_; }  // spent on looking at contents
  uint64_t unwaited() const { return unwaited_ - std::min(unwaited_, waited_); }  // reads whose data was never seen
  uint64_t shared_unseen() const { return shared_unseen_; }  // times that memory which launches may read was not seen
  const DeviceContents& device_contents() const { return device_; }
  uint64_t fresh_ticks() const { return fresh_ticks_; }      // likewise, at which memory has pages

 private:
  void end(TracedThread& thread, bool unfinished, uint64_t ticks, bool timed);

  TraceTables& tables_;
  CallNaming& naming_;
  RegisteredCallbacks& callbacks_;
  MemoryCalls& memory_;
  CallList& list_;
  KeptContents& contents_;
  ProgramFiles& files_;
  const TickClock& clock_;
  DeviceContents device_;
  uint64_t calls_ = 0, capture_ticks_ = 0, shared_unseen_ = 0, unwaited_ = 0, waited_ = 0, fresh_ticks_ = 0;
};

}  // namespace gt::tracer
