// What all messages have in common that put a command into a queue or make an object: events get names, failures are
// told, and what a new object is, is asked once.
// Thread safety: none; the control channel uses it.
#pragma once

#include <functional>

#include "traces/base/clock.h"
#include "transport/executor/base/event_waiter.h"
#include "transport/executor/base/objects.h"

namespace gt::exec {

class Commands {
 public:
  Commands(std::shared_ptr<Session> session, Objects& objects, std::shared_ptr<EventWaiter> event_waiter)
      : session_(std::move(session)), objects_(objects), event_waiter_(std::move(event_waiter)) {}

  Session& session() { return *session_; }
  const std::shared_ptr<Session>& shared_session() { return session_; }
  const Cl& cl() const { return session_->cl; }
  Objects& objects() { return objects_; }
  const std::shared_ptr<EventWaiter>& event_waiter() { return event_waiter_; }

  // The name `id` is for a native object (whose reference it takes). What it is, is asked of the driver.
  cl_int name(ObjectId id, ObjectKind kind, void* handle);
  // The name of a command's event. `enqueued_ns`: when(queue), before the command was enqueued.
  void name_event(ObjectId id, cl_event event, const std::shared_ptr<Queue>& queue, int64_t enqueued_ns);
  static int64_t when(const Queue& queue) { return queue.profiling ? static_cast<int64_t>(monotonic_ns()) : 0; }

  // Is the queue there, may the event be named? On failure it has been told.
  std::shared_ptr<Queue> queue_for(api::FnId fn, ObjectId queue, ObjectId event);
  // A command failed: told, and its event, if it may be named, fails what waits for it. `told`: Completed follows at
  // once, since the client gets it without asking.
  void fail(api::FnId fn, cl_int code, ObjectId object, ObjectId event, bool told = false);

  void subscribe(ObjectId event);
  // Completed will follow when the named event is over; then->over() is called before.
  void tell(ObjectId event, std::unique_ptr<Then> then = nullptr);
  // For event_waiter(): the event with a reference of its own. Its queue is flushed. REQUIRES: its command was
  // enqueued.
  Awaited awaited(const Object& event);
  // As tell(), to be handed to event_waiter() when something else is over too.
  Awaited told_later(ObjectId event);

  // False: after `ms` some queue still has commands that are not over.
  bool wait_until_idle(uint32_t ms);

  std::function<void(cl_context)> context_released;  // before it is
  std::function<void(const Object&)> named;          // what name() has taken in

 private:
  std::shared_ptr<Session> session_;
  Objects& objects_;
  std::shared_ptr<EventWaiter> event_waiter_;
};

}  // namespace gt::exec
