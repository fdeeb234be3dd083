#include "transport/executor/base/objects.h"

#include "transport/executor/base/event_waiter.h"

namespace gt::exec {
namespace {

constexpr uint64_t MostAtOnce = 4096;  // sub-devices, kernels of a program

}  // namespace

cl_int invalid(ObjectKind kind) {
  switch (family(kind)) {
    case ObjectKind::Platform: return CL_INVALID_PLATFORM;
    case ObjectKind::Device: return CL_INVALID_DEVICE;
    case ObjectKind::Context: return CL_INVALID_CONTEXT;
    case ObjectKind::Queue: return CL_INVALID_COMMAND_QUEUE;
    case ObjectKind::Buffer: return CL_INVALID_MEM_OBJECT;
    case ObjectKind::Sampler: return CL_INVALID_SAMPLER;
    case ObjectKind::Program: return CL_INVALID_PROGRAM;
    case ObjectKind::Kernel: return CL_INVALID_KERNEL;
    case ObjectKind::Event: return CL_INVALID_EVENT;
    case ObjectKind::CommandBuffer: return CL_INVALID_COMMAND_BUFFER_KHR;
    case ObjectKind::MutableCommand: return CL_INVALID_MUTABLE_COMMAND_KHR;
    case ObjectKind::Semaphore: return CL_INVALID_SEMAPHORE_KHR;
    default: return CL_INVALID_VALUE;
  }
}

cl_int Objects::may_name(ObjectId first, uint64_t count) {
  if (count > MostAtOnce) return CL_INVALID_VALUE;
  if (first == 0 || first >= wire::FirstSurveyed || count > wire::FirstSurveyed - first) return CL_INVALID_VALUE;
  const uint64_t most = session_.limits.objects;
  if (most != 0 && (map_.size() >= most || count > most - map_.size())) return CL_OUT_OF_RESOURCES;
  for (uint64_t i = 0; i < count; ++i)
    if (map_.find(first + i)) return CL_INVALID_VALUE;
  return CL_SUCCESS;
}

Object& Objects::add(ObjectId id, Object object) {
  session_.count.memory_bytes += object.counted;
  ++session_.count.objects;
  if (object.kind == ObjectKind::Svm) svm_[object.svm->address()] = id;
  return map_.insert(id, std::move(object));
}

void Objects::remove(ObjectId id) {
  Object* const found = map_.find(id);
  if (!found) return;
  fail_user_event(*found);  // nobody can complete it any more: what waits for it would never end
  Object object = std::move(*found);
  map_.erase(id);
  if (object.kind == ObjectKind::Svm) svm_.erase(object.svm->address());
  --session_.count.objects;
  session_.count.memory_bytes -= object.counted;
  if (object.queue && object.kind == ObjectKind::Queue) EventWaiter::leave(*object.queue);
  if (object.kind == ObjectKind::CommandBuffer)
    for (const ObjectId command : std::exchange(object.command_buffer->commands, {})) remove(command);
  release(object);
}

void Objects::remove_all() {
  // Children first, as a tidy program does it.
  constexpr ObjectKind Order[] = {ObjectKind::MutableCommand, ObjectKind::CommandBuffer, ObjectKind::Semaphore,
                                  ObjectKind::Event,          ObjectKind::Kernel,        ObjectKind::Program,
                                  ObjectKind::Sampler,        ObjectKind::Buffer,        ObjectKind::Queue,
                                  ObjectKind::Context,        ObjectKind::Device};
  for (const ObjectKind kind : Order) {
    map_.each([&](ObjectId id, Object& object) {
      if (family(object.kind) == kind && id < wire::FirstSurveyed) release(object);
    });
  }
  svm_.clear();
  map_.clear();
  session_.count.objects = 0;
  session_.count.memory_bytes = 0;
}

ObjectId Objects::discovered(ObjectKind kind, void* handle) {
  if (const ObjectId known = name_of(kind, handle)) return known;
  Object object;
  object.kind = kind;
  object.handle = handle;
  map_.insert(next_surveyed_, std::move(object));
  return next_surveyed_++;
}

ObjectId Objects::name_of(ObjectKind kind, void* handle) {
  ObjectId name = 0;
  map_.each([&](ObjectId id, const Object& object) {
    if (object.handle == handle && family(object.kind) == family(kind)) name = id;
  });
  return name;
}

Object* Objects::find_svm(uint64_t address, uint64_t length) {
  const auto behind = svm_.upper_bound(address);
  if (behind == svm_.begin()) return nullptr;
  Object* const object = find(std::prev(behind)->second, ObjectKind::Svm);
  return object->svm->holds(address, length) ? object : nullptr;
}

void Objects::remove_svm(uint64_t address) {
  if (const auto it = svm_.find(address); it != svm_.end()) remove(it->second);
}

bool Objects::has_failed(const Object& event) const {
  if (event.failed) return true;
  if (!session_.events_fail) return false;
  cl_int status = CL_COMPLETE;
  session_.cl.clGetEventInfo(event.as<cl_event>(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return status < 0;
}

cl_int Objects::wait_list(std::span<const ObjectId> ids, std::span<const cl_event>& out) {
  waits_.clear();
  for (const ObjectId id : ids) {
    const Object* const event = find(id, ObjectKind::Event);
    if (!event) return CL_INVALID_EVENT_WAIT_LIST;
    if (has_failed(*event)) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (!event->over) waits_.push_back(event->as<cl_event>());
  }
  out = waits_;
  return CL_SUCCESS;
}

void Objects::release(ObjectKind kind, void* handle) {
  if (!handle) return;
  const Cl& cl = session_.cl;
  switch (family(kind)) {
    case ObjectKind::Device: cl.clReleaseDevice(static_cast<cl_device_id>(handle)); break;
    case ObjectKind::Context: cl.clReleaseContext(static_cast<cl_context>(handle)); break;
    case ObjectKind::Buffer: cl.clReleaseMemObject(static_cast<cl_mem>(handle)); break;
    case ObjectKind::Sampler: cl.clReleaseSampler(static_cast<cl_sampler>(handle)); break;
    case ObjectKind::Program: cl.clReleaseProgram(static_cast<cl_program>(handle)); break;
    case ObjectKind::Kernel:
      if (session_.usm) session_.usm->kernel_releasing(static_cast<cl_kernel>(handle));
      cl.clReleaseKernel(static_cast<cl_kernel>(handle));
      break;
    case ObjectKind::Event: cl.clReleaseEvent(static_cast<cl_event>(handle)); break;
    default: break;  // queues: by Queue; platforms are nobody's
  }
}

void Objects::release(Object& object) {
  release(object.kind, object.handle);
  object.command_buffer.reset();
  if (object.kind != ObjectKind::Semaphore || !object.driver) return;
  if (const auto function = (*object.driver)[api::FnId::clReleaseSemaphoreKHR])
    reinterpret_cast<clReleaseSemaphoreKHR_fn>(function)(object.as<cl_semaphore_khr>());
}

void Objects::note_status(ObjectId event) {
  Object* const object = find(event, ObjectKind::Event);
  if (!std::exchange(object->pending, false)) return;
  if (session_.cl.status(object->as<cl_event>()) < 0) session_.events_fail = true;
  session_.in_flight.depends(-1);
}

void Objects::fail_user_event(Object& object) {
  if (!std::exchange(object.pending, false)) return;
  session_.cl.clSetUserEventStatus(object.as<cl_event>(), CL_OUT_OF_RESOURCES);
  session_.in_flight.depends(-1);
}

void Objects::fail_user_events() {
  map_.each([&](ObjectId, Object& object) { fail_user_event(object); });
}

}  // namespace gt::exec
