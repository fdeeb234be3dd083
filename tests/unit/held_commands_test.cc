// The fake driver's commands behind events that are not over: nothing runs before its time, in any kind of queue, and
// failures go along wait lists.
#include <CL/cl.h>
#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace {

struct Bench {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue in_order = nullptr, any_order = nullptr;
  cl_mem mem = nullptr;
  cl_event user = nullptr;

  Bench() {
    cl_platform_id platform = nullptr;
    REQUIRE(clGetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS);
    REQUIRE(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS);
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    in_order = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, nullptr);
    any_order = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, nullptr);
    mem = clCreateBuffer(context, CL_MEM_READ_WRITE, 4, nullptr, nullptr);
    user = clCreateUserEvent(context, nullptr);
  }
  ~Bench() {
    clReleaseEvent(user);
    clReleaseMemObject(mem);
    clReleaseCommandQueue(in_order);
    clReleaseCommandQueue(any_order);
    cl_uint references = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, nullptr);
    CHECK(references == 1);  // no command is left behind
    clReleaseContext(context);
  }
  cl_event write(cl_command_queue queue, const int* value, std::vector<cl_event> waits = {}) {
    cl_event event = nullptr;
    CHECK(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, 4, value, static_cast<cl_uint>(waits.size()),
                               waits.empty() ? nullptr : waits.data(), &event) == CL_SUCCESS);
    return event;
  }
  int now() {  // past all queues
    int value = -1;
    cl_command_queue other = clCreateCommandQueue(context, device, 0, nullptr);
    CHECK(clEnqueueReadBuffer(other, mem, CL_TRUE, 0, 4, &value, 0, nullptr, nullptr) == CL_SUCCESS);
    clReleaseCommandQueue(other);
    return value;
  }
};

cl_int status(cl_event event) {
  cl_int s = 99;
  clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof s, &s, nullptr);
  return s;
}
void release(std::vector<cl_event> events) {
  for (cl_event e : events) clReleaseEvent(e);
}

}  // namespace

TEST_CASE("what waits for a user event runs when it is complete, with what follows in order") {
  Bench bench;
  const int one = 1, two = 2;
  const cl_event a = bench.write(bench.in_order, &one, {bench.user}), b = bench.write(bench.in_order, &two);
  CHECK(status(a) == CL_SUBMITTED);
  CHECK(status(b) == CL_SUBMITTED);
  CHECK(bench.now() == 0);
  CHECK(clSetUserEventStatus(bench.user, CL_COMPLETE) == CL_SUCCESS);
  CHECK(clFinish(bench.in_order) == CL_SUCCESS);
  CHECK(status(a) == CL_COMPLETE);
  CHECK(bench.now() == 2);
  cl_ulong end = 0, start = 0;
  CHECK(clGetEventProfilingInfo(a, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) == CL_SUCCESS);
  CHECK(clGetEventProfilingInfo(b, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr) == CL_SUCCESS);
  CHECK(end <= start);
  release({a, b});
}

TEST_CASE("out of order only wait lists, markers and barriers hold") {
  Bench bench;
  const int one = 1, two = 2, three = 3;
  const cl_event a = bench.write(bench.any_order, &one, {bench.user}), b = bench.write(bench.any_order, &two);
  CHECK(status(b) == CL_COMPLETE);
  CHECK(bench.now() == 2);
  cl_event marker = nullptr, barrier = nullptr;
  CHECK(clEnqueueMarkerWithWaitList(bench.any_order, 0, nullptr, &marker) == CL_SUCCESS);
  CHECK(clEnqueueBarrierWithWaitList(bench.any_order, 0, nullptr, &barrier) == CL_SUCCESS);
  const cl_event c = bench.write(bench.any_order, &three);
  CHECK(status(marker) == CL_SUBMITTED);
  CHECK(status(c) == CL_SUBMITTED);
  clSetUserEventStatus(bench.user, CL_COMPLETE);
  CHECK(clWaitForEvents(1, &c) == CL_SUCCESS);
  CHECK(bench.now() == 3);
  release({a, b, c, marker, barrier});
}

TEST_CASE("failure goes along wait lists, also later ones; commands that only follow run") {
  Bench bench;
  const int one = 1, two = 2, three = 3;
  const cl_event a = bench.write(bench.in_order, &one, {bench.user});
  const cl_event b = bench.write(bench.any_order, &two, {a}), c = bench.write(bench.in_order, &three);
  clSetUserEventStatus(bench.user, -77);
  CHECK(clWaitForEvents(1, &a) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  CHECK(clWaitForEvents(1, &b) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  CHECK(status(bench.user) == -77);
  CHECK(status(b) < 0);
  CHECK(clWaitForEvents(1, &c) == CL_SUCCESS);
  CHECK(bench.now() == 3);
  CHECK(clEnqueueWriteBuffer(bench.in_order, bench.mem, CL_TRUE, 0, 4, &one, 1, &b, nullptr) ==
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  CHECK(bench.now() == 3);
  release({a, b, c});
}

TEST_CASE("a blocking call and clFinish wait for another thread's event") {
  Bench bench;
  const int one = 1;
  int back = 0;
  const cl_event a = bench.write(bench.in_order, &one, {bench.user});
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    clSetUserEventStatus(bench.user, CL_COMPLETE);
  });
  CHECK(clEnqueueReadBuffer(bench.in_order, bench.mem, CL_TRUE, 0, 4, &back, 0, nullptr, nullptr) == CL_SUCCESS);
  CHECK(back == 1);
  CHECK(clFinish(bench.in_order) == CL_SUCCESS);
  other.join();
  release({a});
}
