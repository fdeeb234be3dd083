#include "transport/executor/base/commands.h"

#include <algorithm>
#include <chrono>
#include <thread>


namespace gt::exec {
namespace {

// Of a part: what it is a part of.
cl_device_id whole_device(const Cl& cl, cl_device_id device) {
  const auto parent = Cl::ask<cl_device_id>(cl.clGetDeviceInfo, device, CL_DEVICE_PARENT_DEVICE);
  return parent ? whole_device(cl, parent) : device;
}

}  // namespace

cl_int Commands::name(ObjectId id, ObjectKind kind, void* handle) {
  Object object;
  object.kind = kind;
  object.handle = handle;
  if (family(kind) == ObjectKind::Buffer) {
    const auto mem = static_cast<cl_mem>(handle);
    object.bytes = Cl::ask<size_t>(cl().clGetMemObjectInfo, mem, CL_MEM_SIZE);
    if (!Cl::ask<cl_mem>(cl().clGetMemObjectInfo, mem, CL_MEM_ASSOCIATED_MEMOBJECT)) object.counted = object.bytes;
    if (objects_.has_svm()) {
      const auto* const host = Cl::ask<void*>(cl().clGetMemObjectInfo, mem, CL_MEM_HOST_PTR);
      if (const Object* const under = objects_.find_svm(reinterpret_cast<uint64_t>(host))) {
        object.svm = under->svm;
        object.counted = 0;
      }
    }
    const uint64_t most = session_->limits.memory_bytes;
    if (most != 0 && session_->count.memory_bytes + object.counted > most) {
      objects_.release(kind, handle);
      return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    if (kind == ObjectKind::Image)
      object.element = static_cast<uint32_t>(Cl::ask<size_t>(cl().clGetImageInfo, mem, CL_IMAGE_ELEMENT_SIZE));
  }
  if (kind == ObjectKind::Queue) {
    object.queue = std::make_shared<Queue>(cl(), static_cast<cl_command_queue>(handle), id);
    if (session_->options.uses) session_->options.uses(whole_device(cl(), object.queue->device));
  }
  if (kind == ObjectKind::Kernel && session_->usm) session_->usm->kernel_made(static_cast<cl_kernel>(handle));
  if (kind == ObjectKind::Event) {  // others: name_event
    object.user_event = object.pending = true;
    session_->in_flight.depends(1);
  }
  const Object& added = objects_.add(id, std::move(object));
  if (named) named(added);
  return CL_SUCCESS;
}

void Commands::name_event(ObjectId id, cl_event event, const std::shared_ptr<Queue>& queue, int64_t enqueued_ns) {
  Object object;
  object.kind = ObjectKind::Event;
  object.handle = event;
  object.queue = queue;
  object.order = ++queue->order;
  object.enqueued_ns = enqueued_ns;
  objects_.add(id, std::move(object));
}

std::shared_ptr<Queue> Commands::queue_for(api::FnId fn, ObjectId queue, ObjectId event) {
  const Object* const found = objects_.find(queue, ObjectKind::Queue);
  const cl_int code = !found ? CL_INVALID_COMMAND_QUEUE : event ? objects_.may_name(event) : CL_SUCCESS;
  if (code == CL_SUCCESS) return found->queue;
  fail(fn, code, queue, event);
  return nullptr;
}

void Commands::fail(api::FnId fn, cl_int code, ObjectId object, ObjectId event, bool told) {
  if (event && objects_.may_name(event) == CL_SUCCESS) {
    Object failed;
    failed.kind = ObjectKind::Event;
    failed.failed = code;
    objects_.add(event, std::move(failed));
  }
  session_->failed(fn, code, object, event);
  if (told && event) session_->out.send(wire::Completed{{{event, code, 0, 0}}});
}

void Commands::subscribe(ObjectId id) {
  const Object* const event = objects_.find(id, ObjectKind::Event);
  if (!event || event->failed) {
    const cl_int code = event ? event->failed : CL_INVALID_EVENT;
    session_->out.send(wire::Completed{{{id, code, 0, 0}}});
  } else if (!event->told_by_itself) {
    tell(id);
  }
}

void Commands::tell(ObjectId id, std::unique_ptr<Then> then) {
  Awaited awaited = told_later(id);
  awaited.then = std::move(then);
  event_waiter_->await_here(std::move(awaited));
}

Awaited Commands::told_later(ObjectId id) {
  Object* const event = objects_.find(id, ObjectKind::Event);
  event->told_by_itself = true;
  Awaited told = awaited(*event);
  told.told_as = id;
  return told;
}

Awaited Commands::awaited(const Object& event) {
  if (event.queue) cl().clFlush(event.queue->handle);
  Awaited awaited;
  awaited.event = event.as<cl_event>();
  awaited.order = event.order;
  awaited.enqueued_ns = event.enqueued_ns;
  awaited.queue = event.queue;
  cl().clRetainEvent(awaited.event);
  return awaited;
}

// A driver's own waiting has no timeout: a marker's status is looked at.
bool Commands::wait_until_idle(uint32_t ms) {
  std::vector<cl_event> markers;
  objects_.each_queue([&](const std::shared_ptr<Queue>& queue) {
    cl_event marker = nullptr;
    if (cl().clEnqueueMarkerWithWaitList(queue->handle, 0, nullptr, &marker) == CL_SUCCESS) markers.push_back(marker);
    cl().clFlush(queue->handle);
  });
  const uint64_t end = monotonic_ns() + uint64_t{ms} * 1'000'000;
  bool idle = true;
  for (cl_event marker : markers) {
    for (auto pause = std::chrono::microseconds(20); cl().status(marker) > CL_COMPLETE && monotonic_ns() < end;
         pause = std::min(pause * 2, std::chrono::microseconds(1000)))
      std::this_thread::sleep_for(pause);
    idle = idle && cl().status(marker) <= CL_COMPLETE;
    cl().clReleaseEvent(marker);
  }
  return idle;
}

}  // namespace gt::exec
