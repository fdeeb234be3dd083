// What programs do with events.
#include <cstdlib>
#include <mutex>
#include <vector>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/objects/context.h"
#include "optimizer-rt/client/objects/event.h"
#include "optimizer-rt/client/objects/queue.h"

namespace gt::virt::fn {
namespace {

// User events that the program has let go of without a status, and that commands wait for: for ever, as natively. When
// the process ends they fail, so that nobody waits for those commands then.
class Orphans {
 public:
  static Orphans& all() {
    static auto* const one = new Orphans;
    return *one;
  }
  // What nothing waits for ends by itself.
  void add(_cl_event& event) {
    static std::once_flag once;
    std::call_once(once, [] { std::atexit([] { all().fail(); }); });  // later than that of sessions: it comes before
    const MutexLock lock(mutex_);
    std::erase_if(events_, [](const Ref<_cl_event>& known) { return known->ended(); });
    if (event.holds.load() > 1) events_.emplace_back(&event);
  }

 private:
  void fail() {
    std::vector<Ref<_cl_event>> events;
    {
      const MutexLock lock(mutex_);
      events.swap(events_);
    }
    for (const Ref<_cl_event>& event : events)
      if (!event->ended()) event->complete(CL_OUT_OF_RESOURCES, 0, 0);
  }

  Mutex mutex_;
  std::vector<Ref<_cl_event>> events_ GT_GUARDED_BY(mutex_);
};

}  // namespace

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
  event->gates[0]->open();
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
cl_int clReleaseEvent(cl_event event) {
  return release(event, [](_cl_event& last) {
    if (last.is_user() && !last.ended()) Orphans::all().add(last);
  });
}

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

}  // namespace gt::virt::fn
