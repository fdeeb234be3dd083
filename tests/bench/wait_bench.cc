// What a program waits for: a launch and clFinish, a small blocking read, clFinish with nothing to do, an event.
//
// Usage: wait_bench [ROUNDS [PROCESS...]]
// All devices that the program finds, so that the driver's and those behind links stand side by side in one run, their
// turns taken alternately. For each: the median and the 90th percentile in us, and how often threads went
// to sleep per operation: of this process and of the others named (a proxy's worker): each sleep is a wake-up that
// somebody waits for.
#include <CL/cl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace {

constexpr const char* Source = "kernel void nothing(global int* a, int n) { if (n < 0) a[0] = n; }";

// How often threads of a process have gone to sleep.
long sleeps_of(const std::string& process) {
  long sum = 0;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + process + "/task", error)) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("voluntary_ctxt_switches:")) sum += std::atol(line.c_str() + 24);
  }
  return sum;
}

struct Setup {
  cl_command_queue queue;
  cl_kernel kernel;
  cl_mem mem;
};

void launch(const Setup& s) {
  const size_t one = 1;
  check(clEnqueueNDRangeKernel(s.queue, s.kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr), "a kernel");
}

struct Operation {
  const char* name;
  void (*run)(const Setup&);
};

const Operation Operations[] = {
    {"launch + clFinish", [](const Setup& s) { launch(s), check(clFinish(s.queue), "clFinish"); }},
    {"clFinish, nothing to do", [](const Setup& s) { check(clFinish(s.queue), "clFinish"); }},
    {"blocking read of 4 bytes",
     [](const Setup& s) {
       int word = 0;
       check(clEnqueueReadBuffer(s.queue, s.mem, CL_TRUE, 0, sizeof word, &word, 0, nullptr, nullptr), "a read");
     }},
    {"launch + blocking read",
     [](const Setup& s) {
       int word = 0;
       launch(s);
       check(clEnqueueReadBuffer(s.queue, s.mem, CL_TRUE, 0, sizeof word, &word, 0, nullptr, nullptr), "a read");
     }},
    {"launch + clWaitForEvents",
     [](const Setup& s) {
       const size_t one = 1;
       cl_event event = nullptr;
       check(clEnqueueNDRangeKernel(s.queue, s.kernel, 1, nullptr, &one, nullptr, 0, nullptr, &event), "a kernel");
       check(clWaitForEvents(1, &event), "clWaitForEvents");
       clReleaseEvent(event);
     }},
};

Setup set_up(cl_device_id device) {
  cl_int code = 0;
  const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  Setup s{clCreateCommandQueue(context, device, 0, &code), nullptr, nullptr};
  check(code, "clCreateCommandQueue");
  const char* text = Source;
  const cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  s.kernel = clCreateKernel(program, "nothing", &code);
  s.mem = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &code);
  const int zero = 0;
  check(clSetKernelArg(s.kernel, 0, sizeof s.mem, &s.mem), "clSetKernelArg");
  check(clSetKernelArg(s.kernel, 1, sizeof zero, &zero), "clSetKernelArg");
  return s;
}

struct Row {
  std::string name;
  Setup setup;
  std::vector<double> times;
  std::vector<long> sleeps;
};

std::vector<Row> rows() {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  std::vector<Row> all;
  for (const cl_platform_id platform : platforms) {
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "clGetDeviceIDs");
    char text[20] = {};  // what there is room for
    std::string name(256, '\0');
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr);
    std::snprintf(text, sizeof text, "%s", name.c_str());
    for (cl_uint i = 0; i < count; ++i)
      all.push_back({std::string(text) + ' ' + std::to_string(i), set_up(devices[i]), {}, {}});
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  std::vector<std::string> processes{"self"};
  for (int i = 2; i < argc; ++i) processes.emplace_back(argv[i]);
  std::vector<Row> all = rows();
  std::printf("%-25s %-22s %9s %9s   sleeps per operation\n", "", "device", "median us", "90 %");
  for (const Operation& operation : Operations) {
    for (Row& row : all) row.times.clear(), row.sleeps.assign(processes.size(), 0);
    constexpr int Turn = 50;  // in a row: what a program does that waits for each step
    for (int done = -Turn; done < rounds; done += Turn) {
      for (Row& row : all) {
        for (size_t p = 0; p < processes.size(); ++p) row.sleeps[p] -= sleeps_of(processes[p]);
        for (int i = 0; i < Turn; ++i) {
          const double start = now_us();
          operation.run(row.setup);
          row.times.push_back(now_us() - start);
        }
        for (size_t p = 0; p < processes.size(); ++p) row.sleeps[p] += sleeps_of(processes[p]);
        if (done < 0) row.times.clear(), row.sleeps.assign(processes.size(), 0);
      }
    }
    for (Row& row : all) {
      std::sort(row.times.begin(), row.times.end());
      const size_t n = row.times.size();
      std::printf("%-25s %-22s", operation.name, row.name.c_str());
      std::printf(" %9.2f %9.2f  ", row.times[n / 2], row.times[n * 9 / 10]);
      for (const long sleeps : row.sleeps) std::printf(" %6.2f", static_cast<double>(sleeps) / static_cast<double>(n));
      std::printf("\n");
    }
    std::fflush(stdout);
  }
}
