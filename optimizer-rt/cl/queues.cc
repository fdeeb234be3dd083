#include "optimizer-rt/cl/queues.h"

#include "optimizer-rt/cl/queue_users.h"
#include "optimizer-rt/cl/real.h"
#include "traces/base/mutex.h"

namespace gt::opt {

constinit std::atomic<const void*> first_queue_user{nullptr};
constinit std::atomic<bool> several_queue_users{false};

namespace {

constexpr size_t Most = 256;
constinit Mutex g_mutex;
constinit QueueEntry g_queues[Most] GT_GUARDED_BY(g_mutex) = {};
constinit size_t g_count GT_GUARDED_BY(g_mutex) = 0;  // entries in use are the first; order does not matter

QueueEntry* find(cl_command_queue queue) GT_REQUIRES(g_mutex) {
  for (size_t i = 0; i < g_count; ++i)
    if (g_queues[i].queue == queue) return &g_queues[i];
  return nullptr;
}

void forget(cl_command_queue queue) {
  const MutexLock lock(g_mutex);
  QueueEntry* q = find(queue);
  if (!q) return;
  *q = g_queues[--g_count];
  g_queues[g_count] = {};
}

template <class T>
bool ask(cl_command_queue queue, cl_command_queue_info what, T* out) {
  const auto info = GT_REAL(clGetCommandQueueInfo);
  return info && info(queue, what, sizeof *out, out, nullptr) == CL_SUCCESS;
}

}  // namespace

bool look_up_queue(cl_command_queue queue, QueueEntry* out) noexcept {
  {
    const MutexLock lock(g_mutex);
    if (const QueueEntry* q = find(queue)) return *out = *q, true;
  }
  cl_command_queue_properties properties = 0;
  *out = {};
  out->queue = queue;
  if (!ask(queue, CL_QUEUE_CONTEXT, &out->context) || !ask(queue, CL_QUEUE_DEVICE, &out->device) ||
      !ask(queue, CL_QUEUE_PROPERTIES, &properties))
    return false;
  out->in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  out->profiling = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  const MutexLock lock(g_mutex);
  if (const QueueEntry* q = find(queue)) return *out = *q, true;
  if (g_count == Most) return false;
  g_queues[g_count++] = *out;
  return true;
}

void queue_created(cl_command_queue queue) noexcept {
  forget(queue);
  QueueEntry unused;
  if (queue) look_up_queue(queue, &unused);  // before a barrier can be enqueued
}

void queue_releasing(cl_command_queue queue) noexcept {
  cl_uint references = 0;
  if (!ask(queue, CL_QUEUE_REFERENCE_COUNT, &references) || references <= 1) forget(queue);
}

void barrier_enqueued(cl_command_queue queue) noexcept {
  const MutexLock lock(g_mutex);
  if (QueueEntry* q = find(queue)) q->has_barriers = true;
}

}  // namespace gt::opt
