#include "optimizer-rt/client/objects/event.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/latch.h"
#include "optimizer-rt/client/base/serial_thread.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/queue.h"
#include "traces/base/clock.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

_cl_event::_cl_event(_cl_command_queue& q, cl_command_type t)
    : Object(Kind), context(q.context), queue(&q), command(t), sub_context(&q.sub_context), status(CL_QUEUED) {
  name = sub_context->session.new_id();
  number = q.next_number();
  queued_ns = static_cast<int64_t>(monotonic_ns());
  submit_ns = queued_ns;
  sub_context->session.watch_event(name, listener_);
}

_cl_event::_cl_event(_cl_context& c, SubContext& p)
    : Object(Kind), context(&c), command(0), sub_context(&p), status(CL_QUEUED) {
  name = sub_context->session.new_id();
  sub_context->session.watch_event(name, listener_);
}

_cl_event::_cl_event(_cl_context& c)
    : Object(Kind), context(&c), command(CL_COMMAND_USER), sub_context(nullptr), status(CL_SUBMITTED) {
  gates.push_back(std::make_shared<Gate>());
}

_cl_event::~_cl_event() {
  if (writes_host_memory && !ended()) pending_host_writes().remove(*this);
  if (is_user()) let_go(gates);
  try {
    if (sub_context) {
      sub_context->session.forget_event(name);
      if (sub_context->session.alive()) sub_context->session.call<api::FnId::clReleaseEvent>({}, as<cl_event>(name));
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
  if (before == Telling::No) sub_context->session.subscribe(name, waits);
  if (before == Telling::Auto && !waits) sub_context->session.push();
}

void _cl_event::note_sent() {
  if (queue) finishes_before = queue->finishes.load();
}

bool _cl_event::ended_by_finish() const { return queue && finishes_before < queue->finished.load(); }

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
  const Bytes outputs = sub_context->session.ask<Ask>({}, as<cl_event>(name), CL_EVENT_COMMAND_EXECUTION_STATUS,
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
    if (!is_user()) require(sub_context->session.alive(), CL_DEVICE_NOT_AVAILABLE);
    Waiting waiting(is_user() ? nullptr : &sub_context->session.link());
    subscribe(true);
    waiting.until(status, [](cl_int s) { return s <= CL_COMPLETE; });
  }
  return status;
}

// False: everything before it has completed here.
bool _cl_event::defer(int64_t start, int64_t end) {
  while (!completes_after.empty()) {
    const Ref<_cl_event> before = std::move(completes_after.back());
    completes_after.pop_back();
    if (before->ended()) continue;
    before->then([self = Ref<_cl_event>(this), start, end](cl_int) { self->complete(CL_COMPLETE, start, end); });
    before->subscribe();
    return true;
  }
  return false;
}

void _cl_event::complete(cl_int with_status, int64_t start, int64_t end) {
  if (with_status == CL_COMPLETE && defer(start, end)) return;
  if (queue) queue->note_end(number);  // before anybody sees the status
  if (with_status == CL_COMPLETE && !is_user()) let_go(gates);
  if (on_completion && with_status == CL_COMPLETE) on_completion();
  on_completion = nullptr;
  if (writes_host_memory) pending_host_writes().remove(*this);
  std::vector<Registered> callbacks;
  std::vector<Callback> continuations;
  std::vector<std::pair<SubContext*, ObjectId>> copies;
  Ref<_cl_event> self;
  {
    const MutexLock lock(mutex_);
    if (ended()) return;
    self = std::move(self_);
    start_ns = start == 0 ? submit_ns : std::max(start, submit_ns);
    end_ns = std::max(end, start_ns);
    status.store(std::min(with_status, CL_COMPLETE), std::memory_order_release);
    callbacks.swap(registered_);
    continuations.swap(continuations_);
    copies = copies_;
  }
  if (deferred && queue) queue->deferred_completions->remove(*this);
  status.notify_all();
  if (sub_context) sub_context->session.link().wake_helper();  // this may be a thread of ours, not the link's
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

HostWriter _cl_event::host_writer() const {
  if (!queue) return {this};
  return {this, queue->context.get(), queue->device.get()};
}

void _cl_event::writes_host(const void* begin, size_t bytes) {
  writes_host_memory = true;
  pending_host_writes().add(host_writer(), begin, bytes);
}

void _cl_event::keep() {
  const MutexLock lock(mutex_);
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
    const MutexLock lock(mutex_);
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
    const MutexLock lock(mutex_);
    const bool reached = ended() || when == CL_SUBMITTED;
    (reached ? now : registered_).push_back({when, std::move(callback)});
    if (!ended()) self_ = Ref<_cl_event>(this);
  }
  run_callbacks(std::move(now), ended() ? status.load() : CL_SUBMITTED);
  subscribe();
}

ObjectId _cl_event::name_at(SubContext& at) {
  if (&at == sub_context) return name;
  if (status.load() == CL_COMPLETE) return 0;
  {
    const MutexLock lock(mutex_);
    for (const auto& [where, copy] : copies_) {
      if (where == &at) return copy;
    }
  }
  const ObjectId copy = at.session.new_id();
  cl_int errcode = 0;
  at.session.call<api::FnId::clCreateUserEvent>({copy}, as<cl_context>(at.name), &errcode);
  bool too_late = false;
  {
    const MutexLock lock(mutex_);
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

void after_all(const std::vector<Ref<_cl_event>>& events, std::function<void(cl_int)> then) {
  struct Count {
    std::atomic<size_t> left;
    std::atomic<cl_int> worst{CL_COMPLETE};
    std::function<void(cl_int)> then;
  };
  auto count = std::make_shared<Count>();
  count->left = events.size() + 1;
  count->then = std::move(then);
  const auto ended = [count](cl_int status) {
    if (status < 0) count->worst = status;
    if (count->left.fetch_sub(1) == 1) count->then(count->worst);
  };
  for (const Ref<_cl_event>& e : events) {
    e->then(ended);
    e->subscribe();
  }
  ended(CL_COMPLETE);
}

}  // namespace gt::virt
