// Callbacks: functions of the program that its calls register and that the driver calls, now or later, here or on a
// thread of its own.
//
// Which thread runs a callback, and whether it runs within a call of the program or beside it, changes from run to run.
// So callbacks have *annexes*: threads of the trace that stand for no thread of the machine. A callback runs in the
// first free annex of the thread that registered it; what it calls is listed there, too. Two annexes are needed only
// for callbacks that run at the same time. While a callback runs, its ring's records belong to the annex.
//
//   thread 0    clSetEventCallback(e0) -> fn0[0]   clSetEventCallback(e1) -> fn0[1]   clFinish
//   its annex   event callback(fn0[0], e0)   clReleaseEvent(e0)   event callback(fn0[1], e1)
//
// Callbacks take their numbers in order of registration and never again: when one has been called, and its number would
// be free, is the driver's affair.
#include "tracer/collect/collector.h"
#include "tracer/collect/collector_state.h"
#include "traces/api/callback_fn.h"

namespace gt::tracer {

using model::ArgForm;
using model::Effect;
using model::ObjectKind;

void Collector::take_register(Thread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t id = in.fixed64();
  Thread::Pending& call = thread.pending;
  if (!in.ok() || !call.open || call.registers != 0 || id == 0) {
    ++undecodable_;
    return;
  }
  Callback callback{names_.create_once(class_of(thread, ObjectKind::Callback)), &thread, 0, {}, false, false};
  callback.build = record.header.fn == static_cast<uint16_t>(api::CallbackFn::Program);
  if (const Handle* subject = thread.process->objects.handles.find(call.first_handle)) {
    callback.subject_handle = call.first_handle;
    callback.subject = subject->object;
  }
  call.registers = id;
  call.callback = callback.object;
  thread.process->callbacks[id] = callback;
}

// A call that failed has registered nothing, unless the callback was called all the same (a build that failed). One
// that was called for the last time is forgotten already.
void Collector::define_callback(Thread& thread) {
  const Thread::Pending& call = thread.pending;
  if (call.registers == 0) return;
  auto& callbacks = thread.process->callbacks;
  const auto it = callbacks.find(call.registers);
  if (call.error && it != callbacks.end() && !it->second.called && !it->second.build) {
    callbacks.erase(it);
  } else {
    thread.pending.add_object(model::ParamCallback, Effect::Def, call.callback);
  }
}

Collector::Thread& Collector::free_annex(Thread& owner, const RingHeader& runner) {
  for (Thread* annex : owner.annexes) {
    if (!annex->running) return *annex;
  }
  Thread& annex = new_thread(*owner.process, runner);
  annex.annex_of = &owner;
  constexpr uint32_t Annexes = interpose::ThreadPath::Driver | 1u << 30;  // after the driver's threads
  annex.path = owner.path.child(Annexes | static_cast<uint32_t>(owner.annexes.size()));
  owner.annexes.push_back(&annex);
  return annex;
}

// The annex for a callback that begins. One that nobody is known to have registered belongs to the thread that runs it.
Collector::Thread& Collector::annex_for(const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t id = in.fixed64(), stack_pointer = in.fixed64();
  leave_jumped_out_of(record.ring, stack_pointer);
  Process& process = process_of(record.owner->pid, record.owner->parent_pid);
  const auto it = process.callbacks.find(id);
  const bool beside = record.owner->driver && (record.ring >= by_ring_.size() || !by_ring_[record.ring]);
  Thread* runner = nullptr;  // goes on when the callback has returned
  if (!beside || it == process.callbacks.end()) runner = &thread_of(record);
  if (runner && runner->running) list_callback(*runner, false);
  Thread& by = it == process.callbacks.end() ? *runner : *it->second.by;
  Thread& annex = free_annex(by.annex_of ? *by.annex_of : by, *record.owner);
  if (record.ring >= by_ring_.size()) {
    by_ring_.resize(record.ring + 1, nullptr);
    driver_sequences_.resize(record.ring + 1, 0);
  }
  begin_life(annex, *record.owner);
  if (runner) annex.external = std::exchange(runner->external, {});
  annex.running = true;
  annex.goes_on = runner;
  annex.sequence = runner ? runner->sequence : driver_sequences_[record.ring];
  annex.callback = model::NoIndex;
  annex.callback_ticks = record.header.ticks;
  annex.callback_stack = stack_pointer;
  by_ring_[record.ring] = &annex;
  return annex;
}

void Collector::leave_annex(uint32_t ring, bool unfinished) {
  Thread& annex = *by_ring_[ring];
  if (annex.callback == model::NoIndex) {
    list_callback(annex, unfinished);
  } else if (annex.pending.open) {
    end_call(annex, true, last_ticks_, false);
  }
  annex.running = false;
  by_ring_[ring] = annex.goes_on;
  (annex.goes_on ? annex.goes_on->sequence : driver_sequences_[ring]) = annex.sequence;
}

// A thread of the driver that only ran callbacks is none of the trace's.
void Collector::take_thread_end(const RecordView& record) {
  if (record.ring >= by_ring_.size()) return;
  while (by_ring_[record.ring] && by_ring_[record.ring]->annex_of) leave_annex(record.ring, true);
  if (by_ring_[record.ring]) by_ring_[record.ring]->ended = true;
}

void Collector::take_callback_enter(Thread& annex, const RecordView& record) {
  const uint16_t fn = record.header.fn;
  ByteReader in(record.payload);
  const uint64_t id = in.fixed64(), stack_pointer = in.fixed64();
  begin_call(annex, record, model::NoIndex, stack_pointer);
  ++callbacks_;
  auto& callbacks = annex.process->callbacks;
  const auto it = callbacks.find(id);
  Callback* callback = it == callbacks.end() ? nullptr : &it->second;
  const bool once = api::is_callback_fn(fn) && api::called_once(static_cast<api::CallbackFn>(fn));
  if (callback) {
    callback->called = true;
    annex.pending.add_object(model::ParamCallback, once ? Effect::Release : Effect::Use, callback->object);
  }
  decoded_.clear();
  api::DecodeContext context;
  context.external = &annex.external;
  if (!in.ok() || !api::is_callback_fn(fn) ||
      !api::decode_inputs(static_cast<api::FnId>(fn), in.raw(in.remaining()), context, decoded_)) {
    ++undecodable_;
  }
  for (const api::DecodedArg& arg : decoded_) name_given(annex, arg, callback);
  annex.external.clear();
  if (callback && once) callbacks.erase(it);
}

void Collector::name_given(Thread& annex, const api::DecodedArg& arg, const Callback* callback) {
  const bool subject = callback && arg.tag == api::Tag::Handle && arg.value == callback->subject_handle;
  if (!subject) return name_argument(annex, arg, false);
  const Handle* handle = annex.process->objects.handles.find(arg.value);
  const bool alive = handle && handle->object == callback->subject;
  annex.pending.add_object(arg.param, alive ? Effect::Use : Effect::None, callback->subject);
}

// Writes the callback down: when it returns, or when it makes its first call, which stands behind it. ns: how long it
// took, when that is known by then.
void Collector::list_callback(Thread& annex, bool unfinished, std::optional<uint64_t> ns) {
  Thread::Pending& call = annex.pending;
  if (annex.callback != model::NoIndex || !call.open) return;
  call.open = false;
  call.shape.unfinished = unfinished;
  annex.callback = intern_shape(call.shape);
  ++trace_.stats[annex.callback].calls;
  annex.calls.push(annex.callback, call.values);
  if (annex.call_times) annex.call_times->add_event(time_of(call.ticks), ns);
}

void Collector::take_callback_exit(Thread& thread, const RecordView& record) {
  Thread* annex = &thread;
  while (annex && !annex->running) annex = annex->goes_on;
  if (!annex || by_ring_[record.ring] != annex) {
    ++undecodable_;
    return;
  }
  const uint64_t ns = to_ns(record.header.ticks - annex->callback_ticks);
  list_callback(*annex, false, ns);
  leave_annex(record.ring, false);
  if (annex->callback == model::NoIndex) return;
  model::ShapeStats& stats = trace_.stats[annex->callback];
  if (stats.host_ns.count == 0) stats.first_host_ns = ns;
  stats.host_ns.add(ns);
}

// A callback whose frame was no higher up the stack (which grows down) than what is entered now did not return: it was
// jumped out of.
void Collector::leave_jumped_out_of(uint32_t ring, uint64_t stack_pointer) {
  while (ring < by_ring_.size() && by_ring_[ring] && by_ring_[ring]->running) {
    const Thread& annex = *by_ring_[ring];
    const auto on_stack = [&annex](uint64_t p) { return p >= annex.stack_low && p < annex.stack_high; };
    if (stack_pointer < annex.callback_stack || !on_stack(stack_pointer) || !on_stack(annex.callback_stack)) return;
    leave_annex(ring, true);
  }
}

// The thread or annex that is in a call that returns now: callbacks in between did not return. nullptr: none.
Collector::Thread* Collector::where_open(Thread& thread, const RecordView& exit) {
  const auto in_this_call = [&](const Thread& t) {
    const bool callback = t.running && t.callback == model::NoIndex;
    return t.pending.open && !callback && t.pending.shape.fn == exit.header.fn;
  };
  Thread* at = &thread;
  while (at && !in_this_call(*at)) at = at->running ? at->goes_on : nullptr;
  while (at && by_ring_[exit.ring] != at) leave_annex(exit.ring, true);
  return at;
}

}  // namespace gt::tracer
