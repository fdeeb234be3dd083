// Making and giving back what a group of devices holds, and waiting for it: see device_group.h.
#include "microbench/apps/device_group.h"

#include <utility>

namespace gt::apps {

WaitList::WaitList(std::initializer_list<const Event*> events) {
  for (const Event* event : events)
    if (event->get() != nullptr) events_.push_back(event->get());
}

DeviceGroup::DeviceGroup(const char* source, int64_t devices) : devices_(choose_devices(devices)) {
  cl_int error = CL_SUCCESS;
  context_ = clCreateContext(nullptr, static_cast<cl_uint>(size()), devices_.data(), nullptr, nullptr, &error);
  check(error, "clCreateContext");
  program_ = build(context_, devices_, source);
}

DeviceGroup::~DeviceGroup() {
  finish();
  for (cl_mem buffer : buffers_) release(buffer);
  for (cl_kernel kernel : kernels_) check(clReleaseKernel(kernel), "clReleaseKernel");
  for (cl_command_queue queue : queues_) check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
  check(clReleaseProgram(program_), "clReleaseProgram");
  check(clReleaseContext(context_), "clReleaseContext");
}

cl_command_queue DeviceGroup::queue(size_t device) {
  queues_.push_back(make_queue({devices_[device], context_}));
  return queues_.back();
}

cl_kernel DeviceGroup::kernel(const char* name) {
  kernels_.push_back(make_kernel(program_, name));
  return kernels_.back();
}

cl_mem DeviceGroup::buffer(cl_mem_flags flags, size_t bytes) {
  buffers_.push_back(make_buffer({devices_[0], context_}, flags, bytes));
  return buffers_.back();
}

void DeviceGroup::flush() {
  for (cl_command_queue queue : queues_) check(clFlush(queue), "clFlush");
}

void DeviceGroup::finish() {
  for (cl_command_queue queue : queues_) check(clFinish(queue), "clFinish");
}

void enqueue_write(cl_command_queue queue, cl_mem to, const void* from, size_t bytes) {
  check(clEnqueueWriteBuffer(queue, to, CL_FALSE, 0, bytes, from, 0, nullptr, nullptr), "clEnqueueWriteBuffer");
}

void enqueue_read(cl_command_queue queue, cl_mem from, void* to, size_t bytes) {
  check(clEnqueueReadBuffer(queue, from, CL_FALSE, 0, bytes, to, 0, nullptr, nullptr), "clEnqueueReadBuffer");
}

void Pace::step(std::vector<Event> ends) {
  if (count_++ % Steps != 0) return;
  for (const Event& event : earlier_) {
    const cl_event handle = event.get();
    check(clWaitForEvents(1, &handle), "clWaitForEvents");
  }
  earlier_ = std::move(ends);
}

}  // namespace gt::apps
