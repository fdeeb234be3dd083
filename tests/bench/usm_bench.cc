// What unified shared memory costs on a device, beside buffers in the same run: chains of launches, transfers, and
// what touching shared memory costs. Everything takes turns; prints medians as one JSON object.
//
// Usage: usm_bench [ROUNDS [LARGEST_MIB]]
#include <CL/cl_ext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace {

constexpr size_t Page = 4096;
constexpr int Chain = 500, ChainRounds = 10;  // a chain takes so little that its times differ by a third

cl_context g_context;
cl_device_id g_device;
cl_command_queue g_queue;
clSharedMemAllocINTEL_fn g_shared;
clDeviceMemAllocINTEL_fn g_device_memory;
clSetKernelArgMemPointerINTEL_fn g_set_pointer;
clEnqueueMemcpyINTEL_fn g_copy;

template <class F>
void find_function(cl_platform_id platform, F& function, const char* name) {
  function = reinterpret_cast<F>(clGetExtensionFunctionAddressForPlatform(platform, name));
  check(function ? CL_SUCCESS : CL_INVALID_OPERATION, name);
}

cl_program open_device() {
  cl_platform_id platform = nullptr;
  cl_int err = 0;
  check(clGetPlatformIDs(1, &platform, nullptr), "no platform");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &g_device, nullptr), "no device");
  g_context = clCreateContext(nullptr, 1, &g_device, nullptr, nullptr, &err);
  check(err, "no context");
  g_queue = clCreateCommandQueue(g_context, g_device, 0, &err);
  check(err, "no queue");
  find_function(platform, g_shared, "clSharedMemAllocINTEL");
  find_function(platform, g_device_memory, "clDeviceMemAllocINTEL");
  find_function(platform, g_set_pointer, "clSetKernelArgMemPointerINTEL");
  find_function(platform, g_copy, "clEnqueueMemcpyINTEL");
  const char* source =
      "kernel void next(global uchar* p) { p[get_global_id(0)] += 1; }"
      "kernel void look(global const uchar* p, global uchar* q) { q[0] = p[0]; }";
  cl_program program = clCreateProgramWithSource(g_context, 1, &source, nullptr, &err);
  check(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), "no program");
  return program;
}

cl_kernel kernel(cl_program program, const char* name) {
  cl_int err = 0;
  cl_kernel k = clCreateKernel(program, name, &err);
  check(err, name);
  return k;
}
uint8_t* shared(size_t bytes) {
  cl_int err = 0;
  void* const p = g_shared(g_context, g_device, nullptr, bytes, 0, &err);
  check(err, "shared memory");
  return static_cast<uint8_t*>(p);
}
uint8_t* on_device(size_t bytes) {
  cl_int err = 0;
  void* const p = g_device_memory(g_context, g_device, nullptr, bytes, 0, &err);
  check(err, "device memory");
  return static_cast<uint8_t*>(p);
}
cl_mem buffer(size_t bytes) {
  cl_int err = 0;
  cl_mem mem = clCreateBuffer(g_context, CL_MEM_READ_WRITE, bytes, nullptr, &err);
  check(err, "a buffer");
  return mem;
}
void launch(cl_kernel k) {
  const size_t one = 1;
  check(clEnqueueNDRangeKernel(g_queue, k, 1, nullptr, &one, nullptr, 0, nullptr, nullptr), "a launch");
}
void finish() { check(clFinish(g_queue), "clFinish"); }

double timed(const std::function<void()>& work) {
  const double begin = now_us();
  work();
  return now_us() - begin;
}

class Turns {
 public:
  void add(const std::string& name, double us) { us_[name].push_back(us); }
  void print() {
    const char* separator = "{";
    for (auto& [name, us] : us_) {
      std::sort(us.begin(), us.end());
      std::printf("%s\"%s\": %.3f", separator, name.c_str(), us[us.size() / 2]);
      separator = ", ";
    }
    std::printf("}\n");
  }

 private:
  std::map<std::string, std::vector<double>> us_;
};

uint64_t sum_lines(const uint8_t* p, size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes; i += 64) sum += *static_cast<const volatile uint8_t*>(p + i);
  return sum;
}

void chains(Turns& turns, cl_program program, int rounds) {
  cl_mem mem = buffer(Page);
  uint8_t *const there = on_device(Page), *const both = shared(Page * 64), *const read = shared(Page * 64);
  std::memset(both, 1, Page * 64);
  std::memset(read, 1, Page * 64);
  cl_kernel by_buffer = kernel(program, "next"), by_device = kernel(program, "next"),
            by_shared = kernel(program, "next"), by_const = kernel(program, "look");
  check(clSetKernelArg(by_buffer, 0, sizeof mem, &mem), "an argument");
  check(g_set_pointer(by_device, 0, there), "an argument");
  check(g_set_pointer(by_shared, 0, both), "an argument");
  check(g_set_pointer(by_const, 0, read), "an argument");
  check(g_set_pointer(by_const, 1, there), "an argument");
  const std::pair<const char*, cl_kernel> ways[] = {{"launch_buffer", by_buffer},
                                                    {"launch_device", by_device},
                                                    {"launch_shared", by_shared},
                                                    {"launch_shared_const", by_const}};
  for (const auto& [name, k] : ways) launch(k);
  finish();
  for (int round = 0; round < rounds * ChainRounds; ++round) {
    for (size_t i = 0; i < std::size(ways); ++i) {
      const auto& [name, k] = ways[(static_cast<size_t>(round) + i) % std::size(ways)];  // none is always first
      const double us = timed([k = k] {
        for (int n = 0; n < Chain; ++n) launch(k);
        finish();
      });
      turns.add(name, us / Chain);
    }
    turns.add("launch_and_finish", timed([&] {
                launch(by_buffer);
                finish();
              }));
  }
}

// Blocking, each with what waits for its end.
void transfers(Turns& turns, size_t bytes, int rounds) {
  cl_mem mem = buffer(bytes);
  uint8_t* const there = on_device(bytes);
  std::vector<uint8_t> mine(bytes, 1);
  const std::string size = "_" + std::to_string(bytes >> 10) + "k";
  for (int round = 0; round <= rounds; ++round) {
    const double write_buffer = timed([&] {
      check(clEnqueueWriteBuffer(g_queue, mem, CL_TRUE, 0, bytes, mine.data(), 0, nullptr, nullptr), "a write");
      finish();
    });
    const double write_device = timed([&] {
      check(g_copy(g_queue, CL_TRUE, there, mine.data(), bytes, 0, nullptr, nullptr), "a copy");
      finish();
    });
    const double read_buffer = timed([&] {
      check(clEnqueueReadBuffer(g_queue, mem, CL_TRUE, 0, bytes, mine.data(), 0, nullptr, nullptr), "a read");
    });
    const double read_device =
        timed([&] { check(g_copy(g_queue, CL_TRUE, mine.data(), there, bytes, 0, nullptr, nullptr), "a copy"); });
    if (round == 0) continue;
    turns.add("write_buffer" + size, write_buffer);
    turns.add("write_device" + size, write_device);
    turns.add("read_buffer" + size, read_buffer);
    turns.add("read_device" + size, read_device);
  }
  clReleaseMemObject(mem);
}

// The first page of a run of 16 that the device has written, then the others; beside a blocking read of 4 bytes.
void touches(Turns& turns, cl_program program, int rounds) {
  constexpr size_t Runs = 64, RunPages = 16;
  uint8_t *const p = shared(Runs * 2 * RunPages * Page), *const there = on_device(Page);
  std::memset(p, 1, Runs * 2 * RunPages * Page);
  cl_kernel next = kernel(program, "next");
  check(g_set_pointer(next, 0, p), "an argument");
  uint32_t four = 0;
  for (int round = 0; round < rounds; ++round) {
    launch(next);
    finish();
    for (size_t i = 0; i < 8; ++i) {  // far from one another: each begins a run
      const uint8_t* const run = p + (i * 7 + static_cast<size_t>(round)) % Runs * 2 * RunPages * Page;
      turns.add("first_touch", timed([&] { sum_lines(run, 1); }));
      turns.add("rest_of_run", timed([&] { sum_lines(run + Page, (RunPages - 1) * Page); }));
      turns.add("round_trip", timed([&] {
                  check(g_copy(g_queue, CL_TRUE, &four, there, sizeof four, 0, nullptr, nullptr), "a copy");
                }));
    }
  }
}

// All of it in order, read and written, beside one read and one write of as much.
void streams(Turns& turns, cl_program program, size_t bytes, int rounds) {
  uint8_t* const p = shared(bytes);
  cl_mem mem = buffer(bytes);
  std::vector<uint8_t> mine(bytes, 1);
  cl_kernel next = kernel(program, "next");
  check(g_set_pointer(next, 0, p), "an argument");
  std::memset(p, 1, bytes);
  for (int round = 0; round <= rounds; ++round) {
    launch(next);
    finish();
    const double stream_read = timed([&] { sum_lines(p, bytes); });
    const double whole_read = timed([&] {
      check(clEnqueueReadBuffer(g_queue, mem, CL_TRUE, 0, bytes, mine.data(), 0, nullptr, nullptr), "a read");
      sum_lines(mine.data(), bytes);
    });
    const double stream_write = timed([&] {
      std::memset(p, round, bytes);
      launch(next);
      finish();
    });
    const double whole_write = timed([&] {
      std::memset(mine.data(), round, bytes);
      check(clEnqueueWriteBuffer(g_queue, mem, CL_TRUE, 0, bytes, mine.data(), 0, nullptr, nullptr), "a write");
      finish();
    });
    if (round == 0) continue;
    turns.add("stream_read", stream_read);
    turns.add("whole_read", whole_read);
    turns.add("stream_write", stream_write);
    turns.add("whole_write", whole_write);
    turns.add("stream_read_share", whole_read / stream_read);
    turns.add("stream_write_share", whole_write / stream_write);
  }
  clReleaseMemObject(mem);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  const size_t largest = (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 64) << 20;
  cl_program program = open_device();
  Turns turns;
  chains(turns, program, rounds);
  for (const size_t bytes : {size_t{1} << 20, largest}) transfers(turns, bytes, rounds);
  touches(turns, program, rounds);
  streams(turns, program, largest, rounds);
  turns.print();
  return 0;
}
