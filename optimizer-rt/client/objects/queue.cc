#include "optimizer-rt/client/objects/queue.h"

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/platform/native_device.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

_cl_command_queue::_cl_command_queue(_cl_context& c, _cl_device_id& d, cl_command_queue_properties p,
                                     std::vector<cl_queue_properties> given)
    : Object(Kind),
      context(&c),
      device(&d),
      place(c.place_of(&d)),
      name(place.session.new_id()),
      properties(p),
      list(std::move(given)),
      landings(!(p & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
  place.session.watch(*this);
  cl_int errcode = 0;
  try {
    place.session.call<api::FnId::clCreateCommandQueue>({name}, as<cl_context>(place.name), as<cl_device_id>(d.name),
                                                        p, &errcode);
  } catch (const Failure&) {  // the link has just closed, and there will be no queue
    place.session.forget(*this);
    throw;
  }
}

_cl_command_queue::~_cl_command_queue() {
  place.session.forget(*this);
  if (!place.session.alive()) return;
  try {
    place.session.call<api::FnId::clReleaseCommandQueue>({}, as<cl_command_queue>(name));
    place.session.push();
  } catch (const Failure&) {  // nothing is left to release
  }
}

void _cl_command_queue::note_failure(cl_int code) {
  cl_int none = CL_SUCCESS;
  failure.compare_exchange_strong(none, code);  // the first one is what the others follow from
}

static void raise(std::atomic<uint64_t>& value, uint64_t to) {
  uint64_t before = value.load();
  while (before < to && !value.compare_exchange_weak(before, to)) {
  }
}

void _cl_command_queue::note_end(uint64_t number) { raise(latest_ended, number); }

cl_int _cl_command_queue::finish() {
  const uint64_t until = numbers.load();
  const cl_int code = place.session.finish(name);
  landings.wait();
  raise(finished, until);
  const cl_int earlier = take_failure();
  return earlier != CL_SUCCESS ? earlier : code;
}

namespace gt::virt::fn {
namespace {

constexpr cl_command_queue_properties HostProperties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

cl_command_queue create(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                        std::vector<cl_queue_properties> list, cl_int* errcode) {
  const auto able = device->number<cl_command_queue_properties>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, HostProperties);
  require((properties & ~able) == 0, CL_INVALID_QUEUE_PROPERTIES);
  Ref<_cl_command_queue> queue = make<_cl_command_queue>(*context, *device, properties, std::move(list));
  if (errcode) *errcode = CL_SUCCESS;
  return queue.give();
}

_cl_device_id* checked_device(cl_context context, cl_device_id handle) {
  check(context);
  _cl_device_id& device = device_of(handle);
  require(context->has(&device), CL_INVALID_DEVICE);
  return &device;
}

}  // namespace

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id handle, cl_command_queue_properties properties,
                                      cl_int* errcode) {
  _cl_device_id* const device = checked_device(context, handle);
  require((properties & ~HostProperties) == 0, CL_INVALID_VALUE);
  return create(context, device, properties, {}, errcode);
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id handle,
                                                    const cl_queue_properties* list, cl_int* errcode) {
  _cl_device_id* const device = checked_device(context, handle);
  constexpr cl_command_queue_properties OnDevice = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
  cl_command_queue_properties properties = 0;
  std::vector<cl_queue_properties> kept;
  for (; list && *list != 0; list += 2) {
    require(list[0] == CL_QUEUE_PROPERTIES || list[0] == CL_QUEUE_SIZE, CL_INVALID_VALUE);
    require(list[0] != CL_QUEUE_SIZE, CL_INVALID_QUEUE_PROPERTIES);  // of a queue on the device
    properties = list[1];
    require((properties & ~(HostProperties | OnDevice)) == 0, CL_INVALID_VALUE);
    require((properties & OnDevice) == 0, CL_INVALID_QUEUE_PROPERTIES);
    kept.insert(kept.end(), {list[0], list[1]});
  }
  if (list) kept.push_back(0);
  return create(context, device, properties, std::move(kept), errcode);
}

cl_int clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties, cl_bool,
                                 cl_command_queue_properties*) {
  check(queue);
  return CL_INVALID_OPERATION;  // since OpenCL 1.1
}

cl_int clRetainCommandQueue(cl_command_queue queue) { return retain(queue); }
cl_int clReleaseCommandQueue(cl_command_queue queue) {
  return release(queue, [](_cl_command_queue& q) { q.place.session.push(); });  // an implicit flush
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t room, void* value,
                             size_t* size_ret) {
  check(queue);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_QUEUE_CONTEXT:
      return answer.value(queue->context.get());
    case CL_QUEUE_DEVICE:
      return answer.value(queue->device->handle());
    case CL_QUEUE_REFERENCE_COUNT:
      return answer.value<cl_uint>(queue->references);
    case CL_QUEUE_PROPERTIES:
      return answer.value(queue->properties.load());
    case CL_QUEUE_PROPERTIES_ARRAY:
      return answer.list(queue->list);
    case CL_QUEUE_DEVICE_DEFAULT:
      return answer.value<cl_command_queue>(nullptr);
    case CL_QUEUE_SIZE:
      return CL_INVALID_COMMAND_QUEUE;  // it is not on the device
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int clFlush(cl_command_queue queue) {
  check(queue);
  require(queue->place.session.alive(), CL_DEVICE_NOT_AVAILABLE);
  queue->place.session.call<api::FnId::clFlush>({}, as<cl_command_queue>(queue->name));
  queue->place.session.push();
  return queue->take_failure();
}

cl_int clFinish(cl_command_queue queue) { return check(queue).finish(); }

}  // namespace gt::virt::fn
