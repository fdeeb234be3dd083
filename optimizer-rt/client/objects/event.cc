#include "optimizer-rt/client/objects/event.h"

#include <algorithm>
#include <cstring>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/objects/arrivals.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/gate.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/objects/queue.h"
#include "optimizer-rt/client/base/serial_thread.h"
#include "traces/base/clock.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

_cl_event::_cl_event(_cl_command_queue& q, cl_command_type t)
    : Object(Kind), context(q.context), queue(&q), command(t), place(&q.place), status(CL_QUEUED) {
  name = place->session.new_id();
  number = q.next_number();
  queued_ns = static_cast<int64_t>(monotonic_ns());
  submit_ns = queued_ns;
  place->session.watch(*this);
}

_cl_event::_cl_event(_cl_context& c, Place& p)
    : Object(Kind), context(&c), command(0), place(&p), status(CL_QUEUED) {
  name = place->session.new_id();
  place->session.watch(*this);
}

_cl_event::_cl_event(_cl_context& c)
    : Object(Kind), context(&c), command(CL_COMMAND_USER), place(nullptr), status(CL_SUBMITTED) {}

_cl_event::~_cl_event() {
  if (arrives && !ended()) arrivals().remove(*this);
  try {
    if (place) {
      place->session.forget(*this);
      if (place->session.alive()) place->session.call<api::FnId::clReleaseEvent>({}, as<cl_event>(name));
    }
    for (const auto& [where, copy] : copies_) {
      if (where->session.alive()) where->session.call<api::FnId::clReleaseEvent>({}, as<cl_event>(copy));
    }
  } catch (const Failure&) {  // the link has just closed: nothing is left to release
  }
}

void _cl_event::subscribe(bool waits) {
  if (is_user() || ended()) return;
  const Telling before = telling_.exchange(Telling::Asked);
  if (before == Telling::No) place->session.subscribe(name, waits);
  if (before == Telling::Unasked && !waits) place->session.push();
}

bool _cl_event::ended_by_finish() const { return queue && number <= queue->finished.load(); }

cl_int _cl_event::current_status() {
  if (ended() || is_user()) return status;
  if (ended_by_finish()) return wait();  // the answer is on its way
  const bool first = telling_ != Telling::Asked;
  subscribe();
  return (first || is_overtaken()) && look() <= CL_COMPLETE ? wait() : status.load();
}

// One after it is known to have ended: in an in-order queue so has this one, though it has not been told yet. Once for
// each such event, since in other queues it means nothing.
bool _cl_event::is_overtaken() {
  const uint64_t latest = queue ? queue->latest_ended.load() : 0;
  return number < latest && looked_after_.exchange(latest) != latest;
}

// Where the command is now. What it implies, the end of an event that waited for it for one, is known here already.
cl_int _cl_event::look() {
  constexpr api::FnId Ask = api::FnId::clGetEventInfo;
  int wanted = 0;  // only whether there is a pointer goes along
  const Bytes outputs = place->session.ask<Ask>({}, as<cl_event>(name), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                sizeof(cl_int), static_cast<void*>(&wanted), nullptr);
  const InfoAnswer answer = info_of(Ask, outputs);
  cl_int there = CL_QUEUED, known = status;
  if (answer.code == CL_SUCCESS && answer.value.size() == sizeof there)
    std::memcpy(&there, answer.value.data(), sizeof there);
  while (there > CL_COMPLETE && known > there && !status.compare_exchange_weak(known, there)) {
  }
  return there;
}

// What refused the command came before the answer.
cl_int _cl_event::look_now() {
  if (!ended()) look();
  return status;
}

cl_int _cl_event::wait() {
  if (!ended()) {
    if (!is_user()) require(place->session.alive(), CL_DEVICE_NOT_AVAILABLE);
    Waiting waiting(is_user() ? nullptr : &place->session.link());
    subscribe(true);
    waiting.until(status, [](cl_int s) { return s <= CL_COMPLETE; });
  }
  return status;
}

// False: everything before it has landed.
bool _cl_event::put_off(int64_t start, int64_t end) {
  while (!lands_after.empty()) {
    const Ref<_cl_event> before = std::move(lands_after.back());
    lands_after.pop_back();
    if (before->ended()) continue;
    before->then([self = Ref<_cl_event>(this), start, end](cl_int) { self->complete(CL_COMPLETE, start, end); });
    before->subscribe();
    return true;
  }
  return false;
}

void _cl_event::complete(cl_int with_status, int64_t start, int64_t end) {
  if (with_status == CL_COMPLETE && put_off(start, end)) return;
  if (queue) queue->note_end(number);  // before anybody sees the status
  if (landing && with_status == CL_COMPLETE) landing();
  landing = nullptr;
  if (arrives) arrivals().remove(*this);
  std::vector<Registered> callbacks;
  std::vector<Callback> continuations;
  std::vector<std::pair<Place*, ObjectId>> copies;
  Ref<_cl_event> self;
  {
    const std::lock_guard lock(mutex_);
    if (ended()) return;
    self = std::move(self_);
    start_ns = start == 0 ? submit_ns : std::max(start, submit_ns);
    end_ns = std::max(end, start_ns);
    status.store(std::min(with_status, CL_COMPLETE), std::memory_order_release);
    callbacks.swap(registered_);
    continuations.swap(continuations_);
    copies = copies_;
  }
  if (late && queue) queue->landings.remove(*this);
  status.notify_all();
  if (place) place->session.link().nudge();  // this may be a thread of ours, not the link's
  for (const auto& [where, copy] : copies) {
    try {
      where->session.call<api::FnId::clSetUserEventStatus>({}, as<cl_event>(copy), status.load());
      where->session.push();
    } catch (const Failure&) {  // nobody waits there any more
    }
  }
  run_callbacks(std::move(callbacks), status);
  for (Callback& continuation : continuations) {
    work().post([continuation = std::move(continuation), s = status.load()] { continuation(s); });
  }
}

void _cl_event::keep() {
  const std::lock_guard lock(mutex_);
  if (!ended()) self_ = Ref<_cl_event>(this);
}

// In the order of the states: what waits for CL_SUBMITTED before what waits for CL_COMPLETE.
void _cl_event::run_callbacks(std::vector<Registered> list, cl_int with_status) {
  std::stable_sort(list.begin(), list.end(), [](const Registered& a, const Registered& b) { return a.when > b.when; });
  for (Registered& r : list) {
    const cl_int tell = r.when == CL_COMPLETE || with_status < 0 ? with_status : r.when;
    callbacks().post([self = Ref<_cl_event>(this), call = std::move(r.callback), tell] { call(tell); });
  }
}

void _cl_event::then(Callback callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended()) {
      continuations_.push_back(std::move(callback));
      callback = nullptr;
      self_ = Ref<_cl_event>(this);
    }
  }
  if (callback) {
    work().post([callback = std::move(callback), s = status.load()] { callback(s); });
  }
}

void _cl_event::call_back(cl_int when, Callback callback) {
  std::vector<Registered> now;
  {
    const std::lock_guard lock(mutex_);
    const bool reached = ended() || when == CL_SUBMITTED;
    (reached ? now : registered_).push_back({when, std::move(callback)});
    if (!ended()) self_ = Ref<_cl_event>(this);
  }
  run_callbacks(std::move(now), ended() ? status.load() : CL_SUBMITTED);
  subscribe();
}

ObjectId _cl_event::name_at(Place& at) {
  if (&at == place) return name;
  if (status.load() == CL_COMPLETE) return 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [where, copy] : copies_) {
      if (where == &at) return copy;
    }
  }
  const ObjectId copy = at.session.new_id();
  cl_int errcode = 0;
  at.session.call<api::FnId::clCreateUserEvent>({copy}, as<cl_context>(at.name), &errcode);
  bool too_late = false;
  {
    const std::lock_guard lock(mutex_);
    too_late = ended();
    copies_.emplace_back(&at, copy);
    if (!too_late) self_ = Ref<_cl_event>(this);
  }
  if (too_late) at.session.call<api::FnId::clSetUserEventStatus>({}, as<cl_event>(copy), status.load());
  subscribe();
  return copy;
}

namespace gt::virt {

std::vector<_cl_event*> checked_list(cl_uint n, const cl_event* list, cl_int when_wrong) {
  require((n == 0) == (list == nullptr), when_wrong);
  std::vector<_cl_event*> events;
  for (cl_uint i = 0; i < n; ++i) {
    require(is(list[i]), when_wrong == CL_INVALID_VALUE ? CL_INVALID_EVENT : when_wrong);
    events.push_back(list[i]);
  }
  return events;
}

namespace fn {

cl_event clCreateUserEvent(cl_context context, cl_int* errcode) {
  Ref<_cl_event> event = make<_cl_event>(check(context));
  if (errcode) *errcode = CL_SUCCESS;
  return event.give();
}

cl_int clSetUserEventStatus(cl_event event, cl_int status) {
  check(event);
  require(event->is_user(), CL_INVALID_EVENT);
  require(status <= CL_COMPLETE, CL_INVALID_VALUE);
  require(!event->ended(), CL_INVALID_OPERATION);
  event->complete(status, 0, 0);
  return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint n, const cl_event* list) {
  require(n != 0 && list != nullptr, CL_INVALID_VALUE);
  const std::vector<_cl_event*> events = checked_list(n, list, CL_INVALID_VALUE);
  for (_cl_event* e : events) require(e->context.get() == events[0]->context.get(), CL_INVALID_CONTEXT);
  if (n > 1)  // one is asked for by wait(), which then receives the answer
    for (_cl_event* e : events) e->subscribe();
  bool good = true;
  for (_cl_event* e : events) good = e->wait() == CL_COMPLETE && good;
  return good ? CL_SUCCESS : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

cl_int clGetEventInfo(cl_event event, cl_event_info name, size_t room, void* value, size_t* size_ret) {
  check(event);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_EVENT_COMMAND_QUEUE:
      return answer.value(event->queue.get());
    case CL_EVENT_CONTEXT:
      return answer.value(event->context.get());
    case CL_EVENT_COMMAND_TYPE:
      return answer.value(event->command);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
      return answer.value(event->current_status());
    case CL_EVENT_REFERENCE_COUNT:
      return answer.value<cl_uint>(event->references);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int clRetainEvent(cl_event event) { return retain(event); }
cl_int clReleaseEvent(cl_event event) { return release(event); }

cl_int clSetEventCallback(cl_event event, cl_int when, void(CL_CALLBACK* function)(cl_event, cl_int, void*),
                          void* data) {
  check(event);
  require(function && (when == CL_SUBMITTED || when == CL_RUNNING || when == CL_COMPLETE), CL_INVALID_VALUE);
  event->call_back(when, [event, function, data](cl_int status) { function(event, status, data); });
  return CL_SUCCESS;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t room, void* value, size_t* size_ret) {
  check(event);
  require(event->queue && event->queue->profiles(), CL_PROFILING_INFO_NOT_AVAILABLE);
  require(event->current_status() == CL_COMPLETE, CL_PROFILING_INFO_NOT_AVAILABLE);
  const Answer answer(room, value, size_ret);
  const auto time = [&](int64_t ns) { return answer.value(static_cast<cl_ulong>(ns)); };
  switch (name) {
    case CL_PROFILING_COMMAND_QUEUED:
      return time(event->queued_ns);
    case CL_PROFILING_COMMAND_SUBMIT:
      return time(event->submit_ns);
    case CL_PROFILING_COMMAND_START:
      return time(event->start_ns);
    case CL_PROFILING_COMMAND_END:
    case CL_PROFILING_COMMAND_COMPLETE:
      return time(event->end_ns);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace fn
}  // namespace gt::virt
