#include "tracer/collect/callback_threads.h"

#include <utility>

#include "traces/api/callback_fn.h"

namespace gt::tracer {

using model::Effect;

TracedThread& CallbackThreads::free_annex(TracedThread& owner, const RingHeader& runner) {
  std::vector<TracedThread*>& all = annexes_[owner].annexes;
  for (TracedThread* annex : all) {
    if (!runs(*annex)) return *annex;
  }
  TracedThread& annex = threads_.add(*owner.process, runner);
  annexes_[annex].of = &owner;
  constexpr uint32_t Annexes = interpose::ThreadPath::Driver | 1u << 30;  // after the driver's threads
  annex.path = owner.path.child(Annexes | static_cast<uint32_t>(all.size()));
  all.push_back(&annex);
  return annex;
}

// The annex for a callback that begins. One that nobody is known to have registered belongs to the thread that runs it.
TracedThread& CallbackThreads::annex_for(const RecordView& record, uint64_t number, uint64_t stack_pointer) {
  leave_jumped_out_of(record.ring, stack_pointer);
  const RegisteredCallback* callback = registered_.find(threads_.process_of(*record.owner), number);
  TracedThread* const registered_by = callback ? callback->by : nullptr;
  const bool beside = record.owner->driver && !threads_.at(record.ring);
  TracedThread* runner = nullptr;  // goes on when the callback has returned
  if (!beside || !registered_by) runner = &threads_.of(record);
  if (runner && runs(*runner)) list(*runner, false);
  TracedThread& by = registered_by ? *registered_by : *runner;
  TracedThread& thread = free_annex(is_annex(by) ? *annexes_[by].of : by, *record.owner);
  threads_.begin_life(thread, *record.owner);
  if (runner) thread.external = std::exchange(runner->external, {});
  Annex& annex = annexes_[thread];
  annex.running = true;
  ++running_;
  annex.goes_on = runner;
  annex.callback = model::NoIndex;
  annex.ticks = record.header.ticks;
  annex.stack_pointer = stack_pointer;
  thread.sequence = runner ? runner->sequence : threads_.driver_sequence(record.ring);
  threads_.put(record.ring, &thread);
  return thread;
}

void CallbackThreads::leave(uint32_t ring, bool unfinished) {
  TracedThread& thread = *threads_.at(ring);
  Annex& annex = annexes_[thread];
  if (annex.callback == model::NoIndex) {
    list(thread, unfinished);
  } else {
    calls_.end_open(thread, clock_.last_ticks());
  }
  running_ -= annex.running;
  annex.running = false;
  threads_.put(ring, annex.goes_on);
  (annex.goes_on ? annex.goes_on->sequence : threads_.driver_sequence(ring)) = thread.sequence;
}

void CallbackThreads::leave_all(uint32_t ring) {
  while (threads_.at(ring) && is_annex(*threads_.at(ring))) leave(ring, true);
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
  TracedThread& annex = annex_for(record, number, stack_pointer);
  calls_.begin(annex, record, model::NoIndex, stack_pointer);
  ++callbacks_;
  RegisteredCallback* callback = registered_.find(*annex.process, number);
  const bool known = api::is_callback_fn(fn), once = known && api::called_once(static_cast<api::CallbackFn>(fn));
  if (callback) {
    callback->called = true;
    annex.pending.add_object(model::ParamCallback, once ? Effect::Release : Effect::Use, callback->object);
  }
  const bool sound = in.ok() && known &&
                     naming_.name_given(annex, in.raw(in.remaining()), callback ? &callback->subject : nullptr);
  annex.external.clear();
  if (callback && once) registered_.forget(*annex.process, number);
  return sound;
}

// Writes the callback down: when it returns, or when it makes its first call, which stands behind it. ns: how long it
// took, when that is known by then.
void CallbackThreads::list(TracedThread& thread, bool unfinished, std::optional<uint64_t> ns) {
  Annex& annex = annexes_[thread];
  PendingCall& call = thread.pending;
  if (annex.callback != model::NoIndex || !call.open) return;
  call.open = false;
  call.shape.unfinished = unfinished;
  annex.callback = list_.add_callback(thread, ns);
}

void CallbackThreads::end_open(TracedThread& annex) {
  if (runs(annex)) list(annex, true);
}

bool CallbackThreads::exit(const RecordView& record) {
  TracedThread* thread = &threads_.of(record);
  while (thread && !runs(*thread)) thread = annexes_[*thread].goes_on;
  if (!thread || threads_.at(record.ring) != thread) return false;
  const Annex& annex = annexes_[*thread];
  const uint64_t ns = clock_.to_ns(record.header.ticks - annex.ticks);
  list(*thread, false, ns);
  leave(record.ring, false);
  if (annex.callback != model::NoIndex) list_.callback_took(annex.callback, ns);
  return true;
}

// A callback whose frame was no higher up the stack (which grows down) than what is entered now did not return: it was
// jumped out of.
void CallbackThreads::leave_jumped_out_of(uint32_t ring, uint64_t stack_pointer) {
  while (threads_.at(ring) && runs(*threads_.at(ring))) {
    const TracedThread& thread = *threads_.at(ring);
    const uint64_t began = annexes_[thread].stack_pointer;
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
    const bool callback = runs(t) && annexes_[t].callback == model::NoIndex;
    return t.pending.open && !callback && t.pending.shape.fn == record.header.fn;
  };
  TracedThread* at = &threads_.of(record);
  while (at && !in_this_call(*at)) at = runs(*at) ? annexes_[*at].goes_on : nullptr;
  while (at && threads_.at(record.ring) != at) leave(record.ring, true);
  return at;
}

}  // namespace gt::tracer
