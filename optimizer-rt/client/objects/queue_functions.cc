// What programs do with queues, but for commands.
#include <CL/cl_ext.h>

#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/objects/deferred_completions.h"
#include "optimizer-rt/client/objects/queue.h"
#include "optimizer-rt/client/platform/native_device.h"

namespace gt::virt::fn {
namespace {

constexpr cl_command_queue_properties HostProperties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

cl_command_queue create(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                        std::vector<cl_queue_properties> list, cl_int* errcode) {
  const auto able = device->number<cl_command_queue_properties>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, HostProperties);
  require((properties & ~able) == 0, CL_INVALID_QUEUE_PROPERTIES);
  const bool in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Ref<_cl_command_queue> queue = make<_cl_command_queue>(*context, *device, properties, std::move(list),
                                                         std::make_unique<DeferredCompletions>(in_order));
  if (errcode) *errcode = CL_SUCCESS;
  return queue.give();
}

// High, medium or low, where the driver has such hints and a function that takes them.
bool is_hint(_cl_device_id& device, cl_queue_properties key, cl_queue_properties value) {
  const char* const extension = key == CL_QUEUE_PRIORITY_KHR   ? "cl_khr_priority_hints"
                                : key == CL_QUEUE_THROTTLE_KHR ? "cl_khr_throttle_hints"
                                                               : nullptr;
  return extension && device.has_extension(extension) && !device.text(CL_DEVICE_VERSION).starts_with("OpenCL 1.") &&
         (value == CL_QUEUE_PRIORITY_HIGH_KHR || value == CL_QUEUE_PRIORITY_MED_KHR ||
          value == CL_QUEUE_PRIORITY_LOW_KHR);
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
    require(list[0] != CL_QUEUE_SIZE, CL_INVALID_QUEUE_PROPERTIES);  // of a queue on the device
    if (list[0] == CL_QUEUE_PROPERTIES) {
      properties = list[1];
      require((properties & ~(HostProperties | OnDevice)) == 0, CL_INVALID_VALUE);
      require((properties & OnDevice) == 0, CL_INVALID_QUEUE_PROPERTIES);
    } else {
      require(is_hint(*device, list[0], list[1]), CL_INVALID_VALUE);
    }
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
  return release(queue, [](_cl_command_queue& q) { q.sub_context.session.push(); });  // an implicit flush
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
  require(queue->sub_context.session.alive(), CL_DEVICE_NOT_AVAILABLE);
  queue->sub_context.session.call<api::FnId::clFlush>({}, as<cl_command_queue>(queue->name));
  queue->sub_context.session.push();
  return queue->take_failure();
}

cl_int clFinish(cl_command_queue queue) { return check(queue).finish(); }

}  // namespace gt::virt::fn
