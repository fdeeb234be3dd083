// The fake's semaphores: binary ones, whose state changes with the call.
#include <CL/cl_ext.h>

#include "tests/fake_cl/driver.h"

struct _cl_semaphore_khr : gt::fake::Object {
  cl_context context = nullptr;
  bool signalled = false;
};

namespace gt::fake {
namespace {

using List = const cl_semaphore_khr*;

// REQUIRES: `count` is not 0. All must be in state `from`.
cl_int change(cl_command_queue queue, cl_uint count, List list, bool from, cl_uint n, const cl_event* waits,
              cl_event* event) {
  if (!queue) return CL_INVALID_COMMAND_QUEUE;
  if (count == 0 || !list) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    if (!list[i]) return CL_INVALID_SEMAPHORE_KHR;
    if (list[i]->signalled != from) return CL_INVALID_OPERATION;
  }
  for (cl_uint i = 0; i < count; ++i) list[i]->signalled = !from;
  return fake_clEnqueueMarkerWithWaitList(queue, n, waits, event);
}

}  // namespace

cl_semaphore_khr fake_clCreateSemaphoreWithPropertiesKHR(cl_context context, const cl_semaphore_properties_khr* list,
                                                         cl_int* err) {
  const bool good = context && list && list[0] == CL_SEMAPHORE_TYPE_KHR && list[1] == CL_SEMAPHORE_TYPE_BINARY_KHR;
  if (err) *err = good ? CL_SUCCESS : context ? CL_INVALID_VALUE : CL_INVALID_CONTEXT;
  if (!good) return nullptr;
  auto* const made = new _cl_semaphore_khr;
  made->context = context;
  return made;
}

cl_int fake_clEnqueueSignalSemaphoresKHR(cl_command_queue queue, cl_uint count, List list,
                                         const cl_semaphore_payload_khr*, cl_uint n, const cl_event* waits,
                                         cl_event* event) {
  return change(queue, count, list, false, n, waits, event);
}
cl_int fake_clEnqueueWaitSemaphoresKHR(cl_command_queue queue, cl_uint count, List list,
                                       const cl_semaphore_payload_khr*, cl_uint n, const cl_event* waits,
                                       cl_event* event) {
  return change(queue, count, list, true, n, waits, event);
}

cl_int fake_clGetSemaphoreInfoKHR(cl_semaphore_khr semaphore, cl_semaphore_info_khr name, size_t room, void* value,
                                  size_t* size) {
  if (!semaphore) return CL_INVALID_SEMAPHORE_KHR;
  if (name != CL_SEMAPHORE_PAYLOAD_KHR) return CL_INVALID_VALUE;
  if (value && room < sizeof(cl_semaphore_payload_khr)) return CL_INVALID_VALUE;
  if (value) *static_cast<cl_semaphore_payload_khr*>(value) = semaphore->signalled;
  if (size) *size = sizeof(cl_semaphore_payload_khr);
  return CL_SUCCESS;
}

cl_int fake_clReleaseSemaphoreKHR(cl_semaphore_khr semaphore) {
  if (!semaphore) return CL_INVALID_SEMAPHORE_KHR;
  Ref<_cl_semaphore_khr>::release(semaphore);
  return CL_SUCCESS;
}

}  // namespace gt::fake
