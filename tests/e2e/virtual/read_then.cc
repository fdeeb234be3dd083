// Bytes of a read that does not block are there when anything that comes after it has ended: a clFinish, a marker, a
// kernel of another queue that waits for it, a barrier; moving the buffer meanwhile does no harm. Prints how often they
// were not.
#include <CL/cl.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

constexpr size_t Bytes = size_t{4} << 20;

struct World {
  cl_context context = nullptr;
  cl_command_queue in_order = nullptr, other = nullptr, out_of_order = nullptr;
  cl_mem buffer = nullptr, small = nullptr;
  std::vector<uint8_t> expected = std::vector<uint8_t>(Bytes), to = std::vector<uint8_t>(Bytes);

  cl_event read(cl_command_queue queue, size_t bytes = Bytes) {
    cl_event event = nullptr;
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, bytes, to.data(), 0, nullptr, &event));
    return event;
  }
  cl_event fill(cl_command_queue queue, const cl_event* after) {
    cl_event event = nullptr;
    const int zero = 0;
    CHECK(clEnqueueFillBuffer(queue, small, &zero, 4, 0, 64, after ? 1 : 0, after, &event));
    return event;
  }
};

void wait(cl_event event) {
  CHECK(clWaitForEvents(1, &event));
  CHECK(clReleaseEvent(event));
}
cl_event marker(cl_command_queue queue) {
  cl_event event = nullptr;
  CHECK(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event));
  return event;
}

void repeat(World& w, const char* what, const std::function<void()>& act) {
  int missing = 0;
  for (int i = 0; i < 12; ++i) {
    std::memset(w.to.data(), 0, Bytes);
    act();
    missing += w.to != w.expected;
    CHECK(clFinish(w.in_order));
    CHECK(clFinish(w.other));
    CHECK(clFinish(w.out_of_order));
  }
  std::printf("%s: %d\n", what, missing);
}

}  // namespace

int main() {
  World w;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int err = 0;
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  w.context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &err);
  CHECK(err);
  w.in_order = clCreateCommandQueue(w.context, device, 0, &err);
  w.other = clCreateCommandQueue(w.context, device, 0, &err);
  w.out_of_order = clCreateCommandQueue(w.context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &err);
  CHECK(err);
  for (size_t i = 0; i < Bytes; ++i) w.expected[i] = static_cast<uint8_t>(i * 31 + i / 255 + 1);
  w.buffer = clCreateBuffer(w.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Bytes, w.expected.data(), &err);
  w.small = clCreateBuffer(w.context, CL_MEM_READ_WRITE, 64, nullptr, &err);
  CHECK(err);
  repeat(w, "clFinish", [&] {
    clReleaseEvent(w.read(w.in_order));
    CHECK(clFinish(w.in_order));
  });
  repeat(w, "clFinish, out of order", [&] {
    clReleaseEvent(w.read(w.out_of_order));
    CHECK(clFinish(w.out_of_order));
  });
  repeat(w, "a marker", [&] {
    clReleaseEvent(w.read(w.in_order));
    wait(marker(w.in_order));
  });
  repeat(w, "a later, smaller read", [&] {
    clReleaseEvent(w.read(w.in_order));
    wait(w.read(w.in_order, 100));
  });
  repeat(w, "a command of another queue", [&] {
    cl_event read = w.read(w.in_order);
    wait(w.fill(w.other, &read));
    clReleaseEvent(read);
  });
  repeat(w, "what is behind that command", [&] {
    cl_event read = w.read(w.in_order);
    CHECK(clEnqueueMarkerWithWaitList(w.other, 1, &read, nullptr));
    wait(w.fill(w.other, nullptr));
    clReleaseEvent(read);
  });
  repeat(w, "a marker, out of order", [&] {
    clReleaseEvent(w.read(w.out_of_order));
    wait(marker(w.out_of_order));
  });
  repeat(w, "what is behind a barrier", [&] {
    clReleaseEvent(w.read(w.out_of_order));
    CHECK(clEnqueueBarrierWithWaitList(w.out_of_order, 0, nullptr, nullptr));
    wait(w.fill(w.out_of_order, nullptr));
  });
  // PoCL 3.1 loses an event when two threads do these at once (transport/executor/turns.h); this is one thread.
  repeat(w, "a move to the host meanwhile", [&] {
    for (int i = 0; i < 20; ++i) {
      cl_event moved = nullptr;
      CHECK(clEnqueueWriteBuffer(w.in_order, w.buffer, CL_TRUE, 0, 4, w.expected.data(), 0, nullptr, nullptr));
      cl_event read = w.read(w.in_order);
      CHECK(clEnqueueMigrateMemObjects(w.other, 1, &w.buffer, CL_MIGRATE_MEM_OBJECT_HOST, 0, nullptr, &moved));
      wait(moved);
      wait(read);
    }
  });
  CHECK(clReleaseMemObject(w.buffer));
  CHECK(clReleaseMemObject(w.small));
  for (cl_command_queue q : {w.in_order, w.other, w.out_of_order}) CHECK(clReleaseCommandQueue(q));
  CHECK(clReleaseContext(w.context));
  std::printf("end\n");
}
