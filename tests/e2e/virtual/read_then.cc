// Bytes of a read that does not block are there when anything that comes after it has ended: a clFinish, a marker, a
// kernel of another queue that waits for it, a barrier; moving the buffer meanwhile does no harm. Nor does what comes
// after them take bytes that are still on their way: a write of what is being read, an unmap of what is being mapped.
// And of two reads into the same memory, one behind the other, the later one's bytes are there in the end.
// Prints how often they were not there. One of its queues is the last device's, where the platform has several.
//
// Usage: read_then [chains]      chains: without what is only waited for
#include <CL/cl.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

constexpr size_t Bytes = size_t{4} << 20;

struct World {
  cl_context context = nullptr;
  cl_command_queue in_order = nullptr, other = nullptr, out_of_order = nullptr;
  cl_mem buffer = nullptr, small = nullptr;
  std::vector<uint8_t> expected = std::vector<uint8_t>(Bytes), to = std::vector<uint8_t>(Bytes);
  std::vector<uint8_t> wrong = std::vector<uint8_t>(Bytes), by = std::vector<uint8_t>(2 * Bytes);

  cl_event read(cl_command_queue queue, size_t bytes = Bytes) {
    cl_event event = nullptr;
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, bytes, to.data(), 0, nullptr, &event));
    return event;
  }
  cl_event gate() {
    cl_int err = 0;
    cl_event event = clCreateUserEvent(context, &err);
    CHECK(err);
    return event;
  }
  void read_whole(cl_mem from) {
    std::memset(to.data(), 0, Bytes);
    CHECK(clEnqueueReadBuffer(in_order, from, CL_TRUE, 0, Bytes, to.data(), 0, nullptr, nullptr));
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

// Reads `bytes`, and writes them into another buffer while nobody waits, `row` by row or as they are.
void write_back(World& w, size_t bytes, size_t row) {
  cl_int err = 0;
  cl_mem copy = clCreateBuffer(w.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Bytes, w.expected.data(), &err);
  CHECK(err);
  std::fill_n(w.by.begin(), row ? 2 * Bytes : bytes, uint8_t{0});
  const cl_event gate = w.gate();
  const size_t origin[3] = {}, region[3] = {row, row ? bytes / row : 0, 1};
  if (row) {
    CHECK(clEnqueueReadBufferRect(w.in_order, w.buffer, CL_FALSE, origin, origin, region, row, 0, row + 5, 0,
                                  w.by.data(), 1, &gate, nullptr));
    CHECK(clEnqueueWriteBufferRect(w.in_order, copy, CL_FALSE, origin, origin, region, row, 0, row + 5, 0,
                                   w.by.data(), 0, nullptr, nullptr));
  } else {
    cl_event read = nullptr;
    CHECK(clEnqueueReadBuffer(w.other, w.buffer, CL_FALSE, 0, bytes, w.by.data(), 1, &gate, &read));
    CHECK(clEnqueueWriteBuffer(w.out_of_order, copy, CL_FALSE, 0, bytes, w.by.data(), 1, &read, nullptr));
    CHECK(clReleaseEvent(read));
  }
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
  CHECK(clReleaseEvent(gate));
  CHECK(clFinish(w.in_order));
  CHECK(clFinish(w.out_of_order));
  w.read_whole(copy);
  CHECK(clReleaseMemObject(copy));
}

// Maps for writing, and gives it back before it can be there.
void map_and_unmap(World& w, size_t bytes) {
  const cl_event gate = w.gate();
  cl_int err = 0;
  cl_event mapped = nullptr;
  void* const p = clEnqueueMapBuffer(w.out_of_order, w.buffer, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 64, bytes, 1,
                                     &gate, &mapped, &err);
  CHECK(err);
  CHECK(clEnqueueUnmapMemObject(w.out_of_order, w.buffer, p, 1, &mapped, nullptr));
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
  CHECK(clReleaseEvent(gate));
  CHECK(clReleaseEvent(mapped));
  CHECK(clFinish(w.out_of_order));
  w.read_whole(w.buffer);
}

// Reads other bytes to the same memory, and behind a chain of commands the right ones to the end of it.
void read_over(World& w, size_t bytes) {
  cl_int err = 0;
  cl_mem other = clCreateBuffer(w.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Bytes, w.wrong.data(), &err);
  CHECK(err);
  cl_event before = nullptr, read = nullptr;
  CHECK(clEnqueueReadBuffer(w.in_order, other, CL_FALSE, 0, Bytes, w.to.data(), 0, nullptr, &before));
  cl_event then = w.fill(w.other, &before);
  const size_t rest = Bytes - bytes;
  CHECK(clEnqueueReadBuffer(w.out_of_order, w.buffer, CL_FALSE, rest, bytes, w.to.data() + rest, 1, &then, &read));
  wait(read);
  std::memcpy(w.to.data(), w.expected.data(), rest);
  CHECK(clReleaseEvent(before));
  CHECK(clReleaseEvent(then));
  CHECK(clReleaseMemObject(other));
}

// Releases what is being read before it can be.
void read_released(World& w, size_t bytes) {
  cl_int err = 0;
  cl_mem copy = clCreateBuffer(w.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Bytes, w.expected.data(), &err);
  CHECK(err);
  std::memcpy(w.to.data() + bytes, w.expected.data() + bytes, Bytes - bytes);
  const cl_event gate = w.gate();
  cl_event read = nullptr;
  CHECK(clEnqueueReadBuffer(w.in_order, copy, CL_FALSE, 0, bytes, w.to.data(), 1, &gate, &read));
  CHECK(clReleaseMemObject(copy));
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
  CHECK(clReleaseEvent(gate));
  wait(read);
}

// In an out-of-order queue with a command that waits for the program, others that wait for nothing go on.
void pass_by(World& w) {
  const cl_event gate = w.gate();
  cl_event held = w.fill(w.out_of_order, &gate), unmapped = nullptr;
  cl_int err = 0;
  constexpr size_t Few = 1000;  // PoCL's markers wait for everything before them, and streams need some
  for (const cl_map_flags flags : {cl_map_flags{CL_MAP_WRITE_INVALIDATE_REGION}, cl_map_flags{CL_MAP_READ}}) {
    cl_event mapped = nullptr;  // PoCL's maps that block wait for the whole queue
    void* const p = clEnqueueMapBuffer(w.out_of_order, w.buffer, CL_FALSE, flags, 0, Few, 0, nullptr, &mapped, &err);
    CHECK(err);
    wait(mapped);
    if (flags & CL_MAP_WRITE_INVALIDATE_REGION) std::memcpy(p, w.expected.data(), Few);
    CHECK(clEnqueueUnmapMemObject(w.out_of_order, w.buffer, p, 0, nullptr, &unmapped));
    wait(unmapped);
  }
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
  CHECK(clReleaseEvent(gate));
  wait(held);
  w.read_whole(w.buffer);
}

}  // namespace

// Who waits for what comes after a read finds its bytes.
void waits(World& w) {
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
  // PoCL 3.1 loses an event when two threads do these at once (transport/executor/base/driver_lock.h); this is one
  // thread.
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
}

int main(int argc, char**) {
  World w;
  cl_platform_id platform = nullptr;
  cl_device_id devices[4] = {};
  cl_uint count = 0;
  cl_int err = 0;
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 4, devices, &count));
  w.context = clCreateContext(nullptr, count, devices, nullptr, nullptr, &err);
  CHECK(err);
  w.in_order = clCreateCommandQueue(w.context, devices[0], 0, &err);
  w.other = clCreateCommandQueue(w.context, devices[count - 1], 0, &err);
  w.out_of_order = clCreateCommandQueue(w.context, devices[0], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &err);
  CHECK(err);
  for (size_t i = 0; i < Bytes; ++i) w.expected[i] = static_cast<uint8_t>(i * 31 + i / 255 + 1);
  for (size_t i = 0; i < Bytes; ++i) w.wrong[i] = w.expected[i] ^ 255;
  w.buffer = clCreateBuffer(w.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Bytes, w.expected.data(), &err);
  w.small = clCreateBuffer(w.context, CL_MEM_READ_WRITE, 64, nullptr, &err);
  CHECK(err);
  if (argc == 1) waits(w);
  for (const size_t bytes : {size_t{1000}, size_t{65536}, size_t{65536 * 3}, Bytes}) {
    const std::string of = " of " + std::to_string(bytes);
    repeat(w, ("a write of what is being read," + of).c_str(), [&] { write_back(w, bytes, 0); });
    repeat(w, ("the same, row by row," + of).c_str(), [&] { write_back(w, bytes / 64 * 64, 64); });
    repeat(w, ("a read of what is being read," + of).c_str(), [&] { read_over(w, bytes); });
    repeat(w, ("a read of what is released," + of).c_str(), [&] { read_released(w, bytes); });
    repeat(w, ("an unmap of what is being mapped," + of).c_str(), [&] { map_and_unmap(w, bytes - 64); });
  }
  repeat(w, "maps that wait for nothing", [&] { pass_by(w); });
  CHECK(clReleaseMemObject(w.buffer));
  CHECK(clReleaseMemObject(w.small));
  for (cl_command_queue q : {w.in_order, w.other, w.out_of_order}) CHECK(clReleaseCommandQueue(q));
  CHECK(clReleaseContext(w.context));
  std::printf("end\n");
}
