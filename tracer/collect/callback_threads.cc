#include "tracer/collect/callback_threads.h"

#include <utility>

#include "traces/api/callback_fn.h"

namespace gt::tracer {

using model::Effect;

TracedThread& CallbackThreads::free_callback_thread(TracedThread& owner, const RingHeader& runner) {
  std::vector<TracedThread*>& all = callback_threads_[owner].callback_threads;
  for (TracedThread* callback_thread : all) {
    if (!runs(*callback_thread)) return *callback_thread;
  }
  TracedThread& callback_thread = threads_.add(*owner.process, runner);
  callback_threads_[callback_thread].of = &owner;
  constexpr uint32_t FirstNumber = interpose::ThreadPath::Driver | 1u << 30;  // after the driver's threads
  callback_thread.path = owner.path.child(FirstNumber | static_cast<uint32_t>(all.size()));
  all.push_back(&callback_thread);
  return callback_thread;
}

// The callback thread for a callback that begins. One that nobody is known to have registered belongs to the thread
// that runs it.
TracedThread& CallbackThreads::callback_thread_for(const RecordView& record, uint64_t number, uint64_t stack_pointer) {
  leave_jumped_out_of(record.ring, stack_pointer);
  const RegisteredCallback* callback = registered_.find(threads_.process_of(*record.owner), number);
  TracedThread* const registered_by = callback ? callback->by : nullptr;
  const bool beside = record.owner->driver && !threads_.at(record.ring);
  TracedThread* runner = nullptr;  // goes on when the callback has returned
  if (!beside || !registered_by) runner = &threads_.of(record);
  if (runner && runs(*runner)) list(*runner, false);
  TracedThread& by = registered_by ? *registered_by : *runner;
  TracedThread& thread = free_callback_thread(is_callback_thread(by) ? *callback_threads_[by].of : by, *record.owner);
  threads_.begin_life(thread, *record.owner);
  if (runner) thread.external = std::exchange(runner->external, {});
  CallbackThread& callback_thread = callback_threads_[thread];
  callback_thread.running = true;
  ++running_;
  callback_thread.goes_on = runner;
  callback_thread.callback = model::NoIndex;
  callback_thread.ticks = record.header.ticks;
  callback_thread.stack_pointer = stack_pointer;
  thread.sequence = runner ? runner->sequence : threads_.driver_sequence(record.ring);
  threads_.put(record.ring, &thread);
  return thread;
}

void CallbackThreads::leave(uint32_t ring, bool unfinished) {
  TracedThread& thread = *threads_.at(ring);
  CallbackThread& callback_thread = callback_threads_[thread];
  if (callback_thread.callback == model::NoIndex) {
    list(thread, unfinished);
  } else {
    calls_.end_open(thread, clock_.last_ticks());
  }
  running_ -= callback_thread.running;
  callback_thread.running = false;
  threads_.put(ring, callback_thread.goes_on);
  (callback_thread.goes_on ? callback_thread.goes_on->sequence : threads_.driver_sequence(ring)) = thread.sequence;
}

void CallbackThreads::leave_all(uint32_t ring) {
  while (threads_.at(ring) && is_callback_thread(*threads_.at(ring))) leave(ring, true);
}

// A thread of the driver that only ran callbacks is none of the trace's.
void CallbackThreads::thread_ended(const RecordView& record) {
  leave_all(record.ring);
  if (TracedThread* thread = threads_.at(record.ring)) thread->ended = true;
}

void CallbackThreads::ring_ended(uint32_t ring) {
  leave_all(ring);
  threads_.ring_ended(ring);
}

bool CallbackThreads::enter(const RecordView& record) {
  const uint16_t fn = record.header.fn;
  ByteReader in(record.payload);
  const uint64_t number = in.fixed64(), stack_pointer = in.fixed64();
  TracedThread& callback_thread = callback_thread_for(record, number, stack_pointer);
  calls_.begin(callback_thread, record, model::NoIndex, stack_pointer);
  ++callbacks_;
  RegisteredCallback* callback = registered_.find(*callback_thread.process, number);
  const bool known = api::is_callback_fn(fn), once = known && api::called_once(static_cast<api::CallbackFn>(fn));
  if (callback) {
    callback->called = true;
    callback_thread.pending.add_object(model::ParamCallback, once ? Effect::Release : Effect::Use, callback->object);
  }
  const bool sound =
      in.ok() && known &&
      naming_.name_given(callback_thread, in.raw(in.remaining()), callback ? &callback->subject : nullptr);
  callback_thread.external.clear();
  if (callback && once) registered_.forget(*callback_thread.process, number);
  return sound;
}

// Writes the callback down: when it returns, or when it makes its first call, which stands behind it. ns: how long it
// took, when that is known by then.
void CallbackThreads::list(TracedThread& thread, bool unfinished, std::optional<uint64_t> ns) {
  CallbackThread& callback_thread = callback_threads_[thread];
  PendingCall& call = thread.pending;
  if (callback_thread.callback != model::NoIndex || !call.open) return;
  call.open = false;
  call.shape.unfinished = unfinished;
  callback_thread.callback = list_.add_callback(thread, ns);
}

void CallbackThreads::end_open(TracedThread& callback_thread) {
  if (runs(callback_thread)) list(callback_thread, true);
}

bool CallbackThreads::exit(const RecordView& record) {
  TracedThread* thread = &threads_.of(record);
  while (thread && !runs(*thread)) thread = callback_threads_[*thread].goes_on;
  if (!thread || threads_.at(record.ring) != thread) return false;
  const CallbackThread& callback_thread = callback_threads_[*thread];
  const uint64_t ns = clock_.to_ns(record.header.ticks - callback_thread.ticks);
  list(*thread, false, ns);
  leave(record.ring, false);
  if (callback_thread.callback != model::NoIndex) list_.callback_took(callback_thread.callback, ns);
  return true;
}

// A callback whose frame was no higher up the stack (which grows down) than what is entered now did not return: it was
// jumped out of.
void CallbackThreads::leave_jumped_out_of(uint32_t ring, uint64_t stack_pointer) {
  while (threads_.at(ring) && runs(*threads_.at(ring))) {
    const TracedThread& thread = *threads_.at(ring);
    const uint64_t began = callback_threads_[thread].stack_pointer;
    const auto on_stack = [&thread](uint64_t p) { return p >= thread.stack_low && p < thread.stack_high; };
    if (stack_pointer < began || !on_stack(stack_pointer) || !on_stack(began)) return;
    leave(ring, true);
  }
}

TracedThread& CallbackThreads::thread_among_callbacks(const RecordView& record) {
  ByteReader in(record.payload);
  in.fixed64();
  leave_jumped_out_of(record.ring, in.fixed64());
  TracedThread& thread = threads_.of(record);
  if (runs(thread)) list(thread, false);
  return thread;
}

TracedThread* CallbackThreads::open_among_callbacks(const RecordView& record) {
  const auto in_this_call = [&](const TracedThread& t) {
    const bool callback = runs(t) && callback_threads_[t].callback == model::NoIndex;
    return t.pending.open && !callback && t.pending.shape.fn == record.header.fn;
  };
  TracedThread* at = &threads_.of(record);
  while (at && !in_this_call(*at)) at = runs(*at) ? callback_threads_[*at].goes_on : nullptr;
  while (at && threads_.at(record.ring) != at) leave(record.ring, true);
  return at;
}

}  // namespace gt::tracer
