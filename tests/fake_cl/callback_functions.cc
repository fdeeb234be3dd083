// The functions of OpenCL that take a callback.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/fake_cl/behaviour.h"
#include "tests/fake_cl/driver.h"
#include "tests/fake_cl/held.h"

namespace gt::fake {

cl_int fake_clSetEventCallback(cl_event e, cl_int type, void(CL_CALLBACK* notify)(cl_event, cl_int, void*),
                               void* data) {
  if (!e) return CL_INVALID_EVENT;
  if (!notify || (type != CL_SUBMITTED && type != CL_RUNNING && type != CL_COMPLETE)) return CL_INVALID_VALUE;
  const auto tell = [e, notify, data] { notify(e, e->status, data); };
  if (type >= e->status || e->waiting.add(tell)) call_back(tell);
  return CL_SUCCESS;
}

cl_int fake_clSetMemObjectDestructorCallback(cl_mem m, void(CL_CALLBACK* notify)(cl_mem, void*), void* data) {
  if (!m) return CL_INVALID_MEM_OBJECT;
  if (!notify) return CL_INVALID_VALUE;
  m->destroyed.add([m, notify, data] { notify(m, data); });
  return CL_SUCCESS;
}

cl_int fake_clSetContextDestructorCallback(cl_context c, void(CL_CALLBACK* notify)(cl_context, void*), void* data) {
  if (!c) return CL_INVALID_CONTEXT;
  if (!notify) return CL_INVALID_VALUE;
  c->destroyed.add([c, notify, data] { notify(c, data); });
  return CL_SUCCESS;
}

cl_int fake_clSetProgramReleaseCallback(cl_program p, void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  if (!p) return CL_INVALID_PROGRAM;
  if (!notify) return CL_INVALID_VALUE;
  p->destroyed.add([p, notify, data] { notify(p, data); });
  return CL_SUCCESS;
}

// Handles in the arguments become the addresses of their buffers' contents.
cl_int fake_clEnqueueNativeKernel(cl_command_queue q, void(CL_CALLBACK* function)(void*), void* args, size_t size,
                                  cl_uint handles, const cl_mem* list, const void** places, cl_uint n,
                                  const cl_event* waits, cl_event* event) {
  const Command command{q, n, waits, CL_COMMAND_NATIVE_KERNEL, 1, false, event};
  if (const cl_int error = check(command)) return error;
  if (!function || (args == nullptr) != (size == 0) || (handles != 0) != (list && places)) return CL_INVALID_VALUE;
  std::vector<uint64_t> copy((size + 7) / 8);
  if (size != 0) std::memcpy(copy.data(), args, size);
  for (cl_uint i = 0; i < handles; ++i) {
    const auto at = static_cast<const uint8_t*>(places[i]) - static_cast<const uint8_t*>(args);
    if (at < 0 || static_cast<size_t>(at) + sizeof(void*) > size) return CL_INVALID_VALUE;
    void* data = list[i] ? list[i]->data : nullptr;
    std::memcpy(reinterpret_cast<uint8_t*>(copy.data()) + at, &data, sizeof data);
  }
  return submit(command, [=, copy = std::move(copy)]() mutable {
    static uint64_t of_the_driver;
    void* none = behaviour().gives_native_pointers ? &of_the_driver : nullptr;
    call_back([&] { function(args ? copy.data() : none); });
  });
}

cl_int fake_clEnqueueSVMFree(cl_command_queue q, cl_uint n, void** pointers,
                             void(CL_CALLBACK* notify)(cl_command_queue, cl_uint, void**, void*), void* data,
                             cl_uint waits, const cl_event* list, cl_event* event) {
  const Command command{q, waits, list, CL_COMMAND_SVM_FREE, 1, false, event};
  if (const cl_int error = check(command)) return error;
  if ((n == 0) != (pointers == nullptr)) return CL_INVALID_VALUE;
  std::vector<void*> copy(pointers, pointers + n);
  return submit(command, [=, copy = std::move(copy)]() mutable {
    if (notify) return call_back([&] { notify(q, n, copy.data(), data); });
    std::for_each(copy.begin(), copy.end(), std::free);
  });
}

}  // namespace gt::fake
