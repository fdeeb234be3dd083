// What an executor adds to a chain of launches, and to small transfers: through a link inside the process against the
// driver called directly, in one run. Chains: processor time of the thread that launches, so that a busy machine
// matters less; launch and finish: time on the wall, which other threads are part of.
//
//   executor_bench [LAUNCHES]
#define DOCTEST_CONFIG_IMPLEMENT
#include <CL/cl.h>

#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "tests/unit/executor_client.h"

using namespace gt;

namespace {

constexpr const char* Source = "kernel void nothing(global int* a, int n) { if (n < 0) a[0] = n; }";

class Timer {
 public:
  explicit Timer(bool wall) : clock_(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID), start_(now()) {}
  double us_each(int n) const { return (now() - start_) / n; }

 private:
  double now() const {
    timespec t{};
    ::clock_gettime(clock_, &t);
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
  }
  clockid_t clock_;
  double start_;
};

double native_chain(int launches, bool changes, bool finishes) {
  cl_platform_id platform;
  cl_device_id device;
  clGetPlatformIDs(1, &platform, nullptr);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
  const char* source = Source;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
  clBuildProgram(program, 0, nullptr, "", nullptr, nullptr);
  cl_kernel kernel = clCreateKernel(program, "nothing", nullptr);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  const size_t one = 1;
  const auto run = [&](int n) {
    for (int i = 0; i < n; ++i) {
      if (changes || i == 0) clSetKernelArg(kernel, 1, sizeof i, &i);
      clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr);
      if (finishes) clFinish(queue);
    }
    clFinish(queue);
  };
  run(100);
  const Timer timer(finishes);
  run(launches);
  return timer.us_each(launches);
}

struct Remote : exec::Ready {
  Remote() : Ready(exec::real_driver()) {
    buffer = new_buffer(64);
    kernel = new_kernel(new_program(Source), "nothing");
    const int zero = 0;
    launch(kernel, 1, {exec::object_arg(0, buffer), exec::value_arg(1, zero)}, {}, false);
    finish(queue);
  }
  // One message, encoded into a buffer that is kept, as a client would.
  void chain(int n, bool changes, bool finishes) {
    wire::Launch m;
    m.queue = queue;
    m.kernel = kernel;
    m.dimensions = 1;
    m.global = {1, 1, 1};
    if (changes) m.args.resize(1);
    for (int i = 0; i < n; ++i) {
      if (changes) m.args[0] = exec::value_arg(1, i);
      wire::encode(m, frame);
      const ByteView parts[] = {frame};
      static_cast<void>(link().send(parts));
      if (finishes) finish(queue);
    }
    finish(queue);
  }
  double run(int launches, bool changes, bool finishes) {
    chain(100, changes, finishes);
    const Timer timer(finishes);
    chain(launches, changes, finishes);
    return timer.us_each(launches);
  }
  exec::ObjectId buffer = 0, kernel = 0;
  Bytes frame;
};

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context;  // the test client's checks need one
  context.setAsDefaultForAssertsOutOfTestCases();
  const int launches = argc > 1 ? std::atoi(argv[1]) : 20'000;
  Remote remote;
  std::printf("us per launch          native  executor\n");
  for (int round = 0; round < 3; ++round) {
    std::printf("chain                %8.2f  %8.2f\n", native_chain(launches, false, false),
                remote.run(launches, false, false));
    std::printf("chain, changed arg   %8.2f  %8.2f\n", native_chain(launches, true, false),
                remote.run(launches, true, false));
    std::printf("launch and finish    %8.2f  %8.2f\n", native_chain(launches / 10, false, true),
                remote.run(launches / 10, false, true));
  }
}
