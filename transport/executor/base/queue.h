// A command queue as the executor sees it: the client's, or one of our own for streams.
//
// Ownership: keeps a reference to the native queue. Thread safety: the constant fields from any thread; the others by
// who enqueues (the control channel for the client's queues).
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "traces/base/mutex.h"
#include "transport/executor/base/cl.h"
#include "transport/executor/base/device_clock.h"
#include "transport/protocol/messages.h"

namespace gt::exec {

class QueueWaiter;

// Is its driver one that counts wrongly otherwise (driver_lock.h)?
inline bool needs_driver_lock(const Cl& cl, cl_device_id device) {
  const auto platform = Cl::ask<cl_platform_id>(cl.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  const auto name = Cl::ask<std::array<char, 64>>(cl.clGetPlatformInfo, platform, CL_PLATFORM_NAME);
  return std::string_view(name.data()) == "Portable Computing Language";
}

struct Queue {
  // Takes over one reference.
  Queue(const Cl& functions, cl_command_queue queue, wire::ObjectId id) : cl(functions), handle(queue), name(id) {
    const auto properties =
        Cl::ask<cl_command_queue_properties>(cl.clGetCommandQueueInfo, handle, CL_QUEUE_PROPERTIES);
    in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    profiling = properties & CL_QUEUE_PROFILING_ENABLE;
    context = Cl::ask<cl_context>(cl.clGetCommandQueueInfo, handle, CL_QUEUE_CONTEXT);
    device = Cl::ask<cl_device_id>(cl.clGetCommandQueueInfo, handle, CL_QUEUE_DEVICE);
    needs_driver_lock = exec::needs_driver_lock(cl, device);
  }
  ~Queue() {
    if (last_barrier) cl.clReleaseEvent(last_barrier);
    cl.clReleaseCommandQueue(handle);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  const Cl& cl;
  const cl_command_queue handle;
  const wire::ObjectId name;  // 0: ours
  bool in_order = true, profiling = false;
  bool needs_driver_lock = false;  // commands on memory objects: driver_lock.h
  cl_context context = nullptr;
  cl_device_id device = nullptr;

  Mutex enqueue;               // one of ours: so that orders are the order in the queue
  uint64_t order = 0;               // commands with events so far
  cl_event last_barrier = nullptr;  // of an out-of-order queue; everything enqueued later waits for it
  std::shared_ptr<QueueWaiter> waiter;  // whose thread waits for its commands; made when first wanted
  DeviceClock clock;
};

}  // namespace gt::exec
