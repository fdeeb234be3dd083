// A program that tells what a link does to it, by what happens on its last device.
//
// Usage: link_job bulk SECONDS: how long a small launch and its end take, alone, and while another queue writes without
// a pause. link_job count SECONDS: counts on the device, launch by launch; what was counted must be what was launched.
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

void say(const char* what, long value) {
  std::printf("%s %ld\n", what, value);
  std::fflush(stdout);
}

long us_since(Clock::time_point start) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
}

struct Job {
  cl_context context;
  cl_command_queue queue, bulk_queue;
  cl_kernel kernel;
  cl_mem counter, bulk;
  std::vector<char> bytes = std::vector<char>(4 << 20, 1);

  explicit Job(cl_device_id device) {
    cl_int err = 0;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &err);
    check(err, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &err);
    bulk_queue = clCreateCommandQueue(context, device, 0, &err);
    check(err, "clCreateCommandQueue");
    const char* source = "kernel void count(global int* a) { a[0] += 1; }";
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &err);
    check(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), "clBuildProgram");
    kernel = clCreateKernel(program, "count", &err);
    check(err, "clCreateKernel");
    counter = clCreateBuffer(context, 0, sizeof(int), nullptr, &err);
    bulk = clCreateBuffer(context, 0, bytes.size(), nullptr, &err);
    check(err, "clCreateBuffer");
    const int zero = 0;
    check(clEnqueueWriteBuffer(queue, counter, CL_TRUE, 0, sizeof zero, &zero, 0, nullptr, nullptr), "write");
    check(clSetKernelArg(kernel, 0, sizeof counter, &counter), "clSetKernelArg");
    launch();
    finish();
  }
  void launch() {
    const size_t one = 1;
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr), "launch");
  }
  void finish() { check(clFinish(queue), "clFinish"); }
  cl_event write_bulk() {
    cl_event event = nullptr;
    check(clEnqueueWriteBuffer(bulk_queue, bulk, CL_FALSE, 0, bytes.size(), bytes.data(), 0, nullptr, &event), "bulk");
    check(clFlush(bulk_queue), "clFlush");
    return event;
  }
  int counted() {
    int value = 0;
    check(clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr), "read");
    return value;
  }
};

bool is_over(cl_event event) {
  cl_int status = 0;
  check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr), "event");
  check(status < 0 ? status : CL_SUCCESS, "bulk transfer");
  return status == CL_COMPLETE;
}

long median(std::vector<long> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void bulk(Job& job, long seconds) {
  const auto sample = [&] {
    const auto start = Clock::now();
    job.launch();
    job.finish();
    return us_since(start);
  };
  std::vector<long> idle, loaded;
  for (int i = 0; i < 20; ++i) idle.push_back(sample());
  // Four transfers are always under way, of which the oldest is looked at between samples.
  std::vector<cl_event> under_way;
  for (int i = 0; i < 4; ++i) under_way.push_back(job.write_bulk());
  long moved = 0;
  const auto start = Clock::now();
  while (us_since(start) < seconds * 1'000'000) {
    loaded.push_back(sample());
    if (!is_over(under_way.front())) continue;
    clReleaseEvent(under_way.front());
    under_way.erase(under_way.begin());
    under_way.push_back(job.write_bulk());
    moved += static_cast<long>(job.bytes.size());
  }
  say("idle_us", median(idle));
  say("loaded_us", median(loaded));
  say("samples", static_cast<long>(loaded.size()));
  say("moved_kib", moved / 1024);
  check(clFinish(job.bulk_queue), "clFinish");
}

void count(Job& job, long seconds) {
  long launched = 1, longest = 0;
  say("begins", 0);
  const auto start = Clock::now();
  while (us_since(start) < seconds * 1'000'000) {
    const auto began = Clock::now();
    for (int i = 0; i < 5; ++i, ++launched) job.launch();
    job.finish();
    longest = std::max(longest, us_since(began));
  }
  say("launched", launched);
  say("counted", job.counted());
  say("longest_ms", longest / 1000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  cl_platform_id platform = nullptr;
  cl_device_id devices[8] = {};
  cl_uint n = 0;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &n) != CL_SUCCESS || n == 0 || n > 8)
    return 4;
  Job job(devices[n - 1]);
  const long seconds = std::atol(argv[2]);
  std::strcmp(argv[1], "bulk") == 0 ? bulk(job, seconds) : count(job, seconds);
  return 0;
}
