#include "transport/staging/placeholder_trial.h"

#include "traces/base/clock.h"
#include "transport/staging/futex.h"
#include "transport/staging/insist.h"
#include "transport/staging/thread.h"

namespace gt::staging {
namespace {

// Ends the user event when the driver does not come back without that.
struct Watch {
  const ClFunctions& cl;
  cl_event awaited;
  std::atomic<uint32_t> is_back{0};
  bool ended = false;  // read when the thread is joined

  static void* run(void* watch) {
    static_cast<Watch*>(watch)->look();
    return nullptr;
  }
  void look() noexcept {
    const uint64_t until = monotonic_ns() + Timeout_ms * uint64_t{1'000'000};
    for (uint64_t now = monotonic_ns(); now < until; now = monotonic_ns()) {
      if (is_back.load(std::memory_order_acquire)) return;
      const uint64_t left = until - now;
      const timespec timeout{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
      wait_while(is_back, 0, &timeout);
    }
    ended = true;
    end(CL_COMPLETE);
  }
  void end(cl_int status) const noexcept {
    insist([&] { return cl.clSetUserEventStatus(awaited, status); });
  }
};

// True: the calls came back while the user event had not ended.
bool comes_back(const ClFunctions& cl, cl_command_queue queue, cl_event awaited) noexcept {
  Watch watch{cl, awaited};
  pthread_t thread;
  if (!start_thread("gtrace-trial", Watch::run, &watch, &thread)) return false;
  cl_event marker = nullptr;
  const bool enqueued = cl.clEnqueueMarkerWithWaitList(queue, 1, &awaited, &marker) == CL_SUCCESS;
  if (enqueued) cl.clFlush(queue);
  watch.is_back.store(1, std::memory_order_release);
  wake(watch.is_back, 1);
  ::pthread_join(thread, nullptr);
  if (!watch.ended) watch.end(CL_COMPLETE);
  if (!enqueued) return false;
  cl.clWaitForEvents(1, &marker);  // nothing is left of it when the queue goes
  cl.clReleaseEvent(marker);
  return !watch.ended;
}

}  // namespace

bool placeholders_work(const ClFunctions& cl, cl_context context, cl_device_id device) noexcept {
  cl_int err = CL_SUCCESS;
  cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &err);
  if (err != CL_SUCCESS || !queue) return false;
  cl_event awaited = cl.clCreateUserEvent(context, &err);
  const bool work = err == CL_SUCCESS && awaited && comes_back(cl, queue, awaited);
  if (err == CL_SUCCESS && awaited) cl.clReleaseEvent(awaited);
  cl.clReleaseCommandQueue(queue);
  return work;
}

}  // namespace gt::staging
