// Making and giving back what a session holds: see session.h.
#include "microbench/apps/session.h"

namespace gt::apps {

Session::Session(const char* source, bool hand_pinned)
    : device_(open_device()),
      queue_(make_queue(device_)),
      program_(build(device_, source)),
      hand_pinned_(hand_pinned) {}

Session::~Session() {
  for (const Pinned& p : pinned_)
    check(clEnqueueUnmapMemObject(queue_, p.buffer, p.address, 0, nullptr, nullptr), "clEnqueueUnmapMemObject");
  finish();
  for (const Pinned& p : pinned_) release(p.buffer);
  for (cl_mem buffer : buffers_) release(buffer);
  for (cl_kernel kernel : kernels_) check(clReleaseKernel(kernel), "clReleaseKernel");
  check(clReleaseProgram(program_), "clReleaseProgram");
  check(clReleaseCommandQueue(queue_), "clReleaseCommandQueue");
  close_device(device_);
}

cl_kernel Session::kernel(const char* name) {
  kernels_.push_back(make_kernel(program_, name));
  return kernels_.back();
}

cl_mem Session::buffer(cl_mem_flags flags, size_t bytes) {
  buffers_.push_back(make_buffer(device_, flags, bytes));
  return buffers_.back();
}

void* Session::pinned_bytes(size_t bytes) {
  cl_int error = CL_SUCCESS;
  Pinned p{make_buffer(device_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes), nullptr};
  p.address = clEnqueueMapBuffer(queue_, p.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, nullptr, nullptr,
                                 &error);
  check(error, "clEnqueueMapBuffer");
  pinned_.push_back(p);
  return p.address;
}

void Session::write(cl_mem to, const void* from, size_t bytes, cl_bool blocking) {
  check(clEnqueueWriteBuffer(queue_, to, blocking, 0, bytes, from, 0, nullptr, nullptr), "clEnqueueWriteBuffer");
}

void Session::read(cl_mem from, void* to, size_t bytes, cl_bool blocking) {
  check(clEnqueueReadBuffer(queue_, from, blocking, 0, bytes, to, 0, nullptr, nullptr), "clEnqueueReadBuffer");
}

void Session::launch(cl_kernel kernel, std::initializer_list<size_t> global, std::initializer_list<size_t> local) {
  const size_t* group = local.size() == 0 ? nullptr : local.begin();
  check(clEnqueueNDRangeKernel(queue_, kernel, static_cast<cl_uint>(global.size()), nullptr, global.begin(), group, 0,
                               nullptr, nullptr),
        "clEnqueueNDRangeKernel");
}

void Session::finish() { check(clFinish(queue_), "clFinish"); }

}  // namespace gt::apps
