// Weighing what we hold, and letting go of it.
#include "optimizer-rt/cl/context_end.h"

#include "optimizer-rt/cl/contexts.h"
#include "optimizer-rt/cl/plan_device.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/reused_memory.h"
#include "optimizer-rt/cl/staging.h"
#include "optimizer-rt/cl/svm_memory.h"
#include "traces/base/mutex.h"
#include "transport/staging/insist.h"

namespace gt::opt {
namespace {

cl_uint reference_count(cl_context context) {
  cl_uint n = 0;
  const auto info = GT_REAL(clGetContextInfo);
  return info && info(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, nullptr) == CL_SUCCESS ? n
                                                                                                : 0;
}

// What a buffer and a queue that has worked add to a context's count: different from driver to driver.
struct Weights {
  cl_uint buffer = 0, queue = 0;
};

// What it is now more than `before`.
cl_uint added_references(cl_context context, cl_uint before) {
  const cl_uint now = reference_count(context);
  return now > before ? now - before : 0;
}

cl_int weigh_buffer(cl_context context, cl_uint before, cl_uint* weight) {
  const auto create = GT_REAL(clCreateBuffer);
  const auto release = GT_REAL(clReleaseMemObject);
  cl_int err = CL_SUCCESS;
  if (!create || !release) return CL_INVALID_OPERATION;
  cl_mem mem = create(context, CL_MEM_READ_WRITE, 1, nullptr, &err);
  if (err != CL_SUCCESS) return err;
  *weight = added_references(context, before);
  return release(mem);
}

cl_int weigh_queue(cl_context context, cl_uint before, cl_uint* weight) {
  const auto create = GT_REAL(clCreateCommandQueue);
  const auto finish = GT_REAL(clFinish);
  const auto marker = GT_REAL(clEnqueueMarkerWithWaitList);
  const auto release = GT_REAL(clReleaseCommandQueue);
  cl_device_id device = first_device(context);
  cl_int err = CL_SUCCESS;
  if (!create || !finish || !marker || !release || !device) return CL_INVALID_OPERATION;
  cl_command_queue queue = create(context, device, 0, &err);
  if (err != CL_SUCCESS) return err;
  if (marker(queue, 0, nullptr, nullptr) == CL_SUCCESS) finish(queue);
  *weight = added_references(context, before);
  return release(queue);
}

// Tried out when a program asks for the first time on a platform.
Weights weights(cl_context context) {
  struct Learnt {
    cl_platform_id platform = nullptr;
    Weights weights;
  };
  static constinit Mutex mutex;
  static constinit Learnt learnt[16] GT_GUARDED_BY(mutex) = {};
  cl_platform_id platform = platform_of(context);
  const MutexLock lock(mutex);
  Learnt* free = nullptr;
  for (Learnt& l : learnt) {
    if (l.platform && l.platform == platform) return l.weights;
    if (!l.platform && !free) free = &l;
  }
  Weights w;
  const cl_uint before = reference_count(context);
  const bool known = staging::insist([&] { return weigh_buffer(context, before, &w.buffer); }) &&
                     staging::insist([&] { return weigh_queue(context, before, &w.queue); });
  if (known && free) *free = {platform, w};
  return w;
}

}  // namespace

void context_releasing(cl_context context) noexcept {
  if (!last_reference_goes(context)) return;
  stop_staging(context);
  stop_reusing(context);
  svm_left(context);
  drop_pins(context);
}

cl_uint hidden_references(cl_context context) noexcept {
  staging::Stager::Held held = staging_holds(context);
  held.buffers += pins_in(context);
  if (held.buffers + held.queues == 0) return 0;
  const Weights w = weights(context);
  return held.buffers * w.buffer + held.queues * w.queue;
}

}  // namespace gt::opt
