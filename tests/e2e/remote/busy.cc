// Has transfers and launches under way on the last device of the platform, some of which wait for what never comes;
// then ends, or is killed.
//
// Usage: busy killed|exec|exit|quick|return. Prints its process number when all is under way. killed: goes on until it
// is. exec: becomes cat.
#include <CL/cl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

// A queue with memory of its own, here and there.
struct Lane {
  cl_command_queue queue;
  cl_mem buffer;
  cl_kernel kernel;
  std::deque<cl_event> events;
  std::vector<char> host = std::vector<char>(2 << 20, 1);

  Lane(cl_context context, cl_device_id device, cl_program program) {
    cl_int err = 0;
    queue = clCreateCommandQueue(context, device, 0, &err);
    CHECK(err);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, host.size(), nullptr, &err);
    CHECK(err);
    kernel = clCreateKernel(program, "work", &err);
    CHECK(err);
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  }
  // The events are kept: PoCL 3.1 aborts when an event fails before chains of commands whose events nobody holds.
  void enqueue() {
    const size_t n = host.size();
    CHECK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, n, host.data(), 0, nullptr, event()));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, event()));
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, n, host.data(), 0, nullptr, event()));
    CHECK(clFlush(queue));
  }
  cl_event* event() { return &events.emplace_back(); }
};

cl_device_id last_device() {
  cl_platform_id platform = nullptr;
  cl_device_id devices[8] = {};
  cl_uint n = 0;
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &n));
  return devices[n - 1];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string how = argv[1];
  const cl_device_id device = last_device();
  cl_int err = 0;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &err);
  CHECK(err);
  const char* source = "kernel void work(global char* a) { a[get_global_id(0)] += 1; }";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &err);
  CHECK(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  cl_event never = clCreateUserEvent(context, &err);
  CHECK(err);
  std::vector<Lane*> lanes;  // until the end of the process, with the memory that is read and written
  for (int i = 0; i < 4; ++i) lanes.push_back(new Lane(context, device, program));
  CHECK(clEnqueueMarkerWithWaitList(lanes[0]->queue, 1, &never, lanes[0]->event()));
  for (int i = 0; i < 6; ++i)
    for (Lane* lane : lanes) lane->enqueue();
  std::printf("%d\n", ::getpid());
  std::fflush(stdout);
  while (how == "killed") {
    lanes[1]->enqueue();
    CHECK(clFinish(lanes[1]->queue));
  }
  if (how == "exec") ::execlp("cat", "cat", nullptr);
  if (how == "exit") std::exit(0);
  if (how == "quick") ::_exit(0);
  return how == "return" ? 0 : 2;
}
