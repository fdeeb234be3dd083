// Callbacks: functions of the program that its calls register and that the driver calls, now or later, here or on a
// thread of its own.
//
// Which thread runs a callback, and whether it runs within a call of the program or beside it, changes from run to run.
// So callbacks have *callback threads*: threads of the trace that stand for no thread of the machine. A callback runs
// in the first free callback thread of the thread that registered it; what it calls is listed there, too. Two callback
// threads are needed only for callbacks that run at the same time. While a callback runs, its ring's records belong to
// the callback thread.
//
//   thread 0              clSetEventCallback(e0) -> fn0[0]   clSetEventCallback(e1) -> fn0[1]   clFinish
//   its callback thread   event callback(fn0[0], e0)   clReleaseEvent(e0)   event callback(fn0[1], e1)
// Thread safety: none. Cost: for a call of the program one look at whether a callback runs.
#pragma once

#include <optional>
#include <vector>

#include "tracer/collect/call_list.h"
#include "tracer/collect/call_naming.h"
#include "tracer/collect/opencl_calls.h"
#include "tracer/collect/registered_callbacks.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/collect/threads.h"
#include "tracer/collect/tick_clock.h"

namespace gt::tracer {

class CallbackThreads {
 public:
  // All must outlive it.
  CallbackThreads(Threads& threads, RegisteredCallbacks& registered, CallNaming& naming, OpenClCalls& calls,
                  CallList& list, const TickClock& clock)
      : threads_(threads), registered_(registered), naming_(naming), calls_(calls), list_(list), clock_(clock) {}

  // A callback begins, or returns. False: the record makes no sense.
  bool enter(const RecordView& record);
  bool exit(const RecordView& record);

  // The thread or callback thread whose call this Enter record begins.
  TracedThread& thread_of_enter(const RecordView& record) {
    return running_ == 0 ? threads_.of(record) : thread_among_callbacks(record);
  }
  // The thread or callback thread that is in a call that returns now: callbacks in between did not return. nullptr:
  // none.
  TracedThread* thread_of_exit(const RecordView& record) {
    if (running_ != 0) return open_among_callbacks(record);
    TracedThread& thread = threads_.of(record);
    return thread.pending.open && thread.pending.shape.fn == record.header.fn ? &thread : nullptr;
  }

  void thread_ended(const RecordView& record);
  void ring_ended(uint32_t ring);
  // The trace ends: a callback that runs is listed as unfinished.
  void end_open(TracedThread& callback_thread);

  uint64_t callbacks() const { return callbacks_; }

 private:
  struct CallbackThread {        // what a thread of the trace is as one, and as the owner of others
    TracedThread* of = nullptr;  // the thread that registers its callbacks; nullptr: no callback thread
    std::vector<TracedThread*> callback_threads;  // of this one
    bool running = false;                         // a callback runs in this callback thread now...
    TracedThread* goes_on = nullptr;      // ...in the midst of this one; nullptr: on a thread of the driver
    model::ShapeId callback = model::NoIndex;  // that callback, once it is listed
    uint64_t ticks = 0, stack_pointer = 0;     // of its beginning
  };

  bool is_callback_thread(const TracedThread& thread) const {
    const CallbackThread* callback_thread = callback_threads_.find(thread);
    return callback_thread && callback_thread->of;
  }
  bool runs(const TracedThread& thread) const {
    const CallbackThread* callback_thread = callback_threads_.find(thread);
    return callback_thread && callback_thread->running;
  }
  TracedThread& thread_among_callbacks(const RecordView& enter);
  TracedThread* open_among_callbacks(const RecordView& exit);
  TracedThread& callback_thread_for(const RecordView& record, uint64_t number, uint64_t stack_pointer);
  TracedThread& free_callback_thread(TracedThread& owner, const RingHeader& runner);
  void leave(uint32_t ring, bool unfinished);
  void leave_all(uint32_t ring);
  void leave_jumped_out_of(uint32_t ring, uint64_t stack_pointer);
  void list(TracedThread& callback_thread, bool unfinished, std::optional<uint64_t> ns = std::nullopt);

  Threads& threads_;
  RegisteredCallbacks& registered_;
  CallNaming& naming_;
  OpenClCalls& calls_;
  CallList& list_;
  const TickClock& clock_;
  PerThread<CallbackThread> callback_threads_;
  uint64_t running_ = 0;  // callbacks
  uint64_t callbacks_ = 0;
};

}  // namespace gt::tracer
