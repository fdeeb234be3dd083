#include "transport/staging/queue_placeholder.h"

#include "transport/staging/insist.h"

namespace gt::staging {

bool QueuePlaceholder::open(const ClFunctions& cl, const QueueFacts& queue, cl_uint waits,
                            const cl_event* wait_list) noexcept {
  const bool needs_before = queue.in_order || waits > 0;
  if (!needs_before && queue.has_barriers) return false;
  if (needs_before && cl.clEnqueueMarkerWithWaitList(queue.queue, waits, wait_list, &before_) != CL_SUCCESS) {
    before_ = nullptr;
    return false;
  }
  // On its own: Mesa's rusticl ends commands that were flushed together when it has come past the last of them, and
  // `after` lets it pass only when the transfer is over.
  if (before_) cl.clFlush(queue.queue);
  cl_int err = CL_SUCCESS;
  done_ = cl.clCreateUserEvent(queue.context, &err);
  if (err == CL_SUCCESS && done_ &&
      cl.clEnqueueMarkerWithWaitList(queue.queue, 1, &done_, &after_) == CL_SUCCESS) {
    cl.clFlush(queue.queue);  // our queue waits for this one
    return true;
  }
  if (done_ && err == CL_SUCCESS) cl.clReleaseEvent(done_);
  if (before_) cl.clReleaseEvent(before_);
  *this = QueuePlaceholder();
  return false;
}

QueuePlaceholder::State QueuePlaceholder::state(const ClFunctions& cl) const noexcept {
  if (!before_) return State::Open;
  cl_int status = CL_QUEUED;
  const bool told = insist([&] {
    return cl.clGetEventInfo(before_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  });
  // A driver that does not say, as one whose device has vanished, may still wait.
  if (!told) return cl.clWaitForEvents(1, &before_) == CL_SUCCESS ? State::Open : State::Failed;
  if (status > CL_COMPLETE) return State::Closed;
  return status == CL_COMPLETE ? State::Open : State::Failed;
}

void QueuePlaceholder::finish(const ClFunctions& cl, cl_int error) noexcept {
  insist([&] { return cl.clSetUserEventStatus(done_, error < 0 ? error : CL_COMPLETE); });  // the program waits for it
  cl.clReleaseEvent(done_);
  if (before_) cl.clReleaseEvent(before_);
  before_ = done_ = nullptr;
}

}  // namespace gt::staging
