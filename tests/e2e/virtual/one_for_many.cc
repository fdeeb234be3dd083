// One buffer of one context that every device of the first platform reads, after the first one's queue has written it.
//
// Usage: one_for_many MIB ROUNDS. Each round writes other bytes. Prints a line for each round and device, "3 of round
// 1: yes", NO if it read other bytes, or its error; on stderr the seconds from a round's write until all have read it.
#include <CL/cl.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void must(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "one_for_many: %s: error %d\n", what, code);
  std::exit(3);
}

const char* const Source = R"(
kernel void look(global const uint* bytes, uint count, uint times, global uint* sum) {
  uint s = 0;
  for (uint i = 0; i < count; ++i) s = s * times + bytes[i];
  *sum = s;
})";
constexpr cl_uint Times = 1664525;

cl_uint sum_of(const std::vector<cl_uint>& bytes) {
  cl_uint s = 0;
  for (const cl_uint b : bytes) s = s * Times + b;
  return s;
}

struct Device {
  cl_command_queue queue = nullptr;
  cl_mem sum = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const size_t mib = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 0;
  if (mib == 0 || rounds <= 0) {
    std::fprintf(stderr, "usage: one_for_many MIB ROUNDS\n");
    return 2;
  }
  cl_platform_id platform = nullptr;
  must(clGetPlatformIDs(1, &platform, nullptr), "platforms");
  cl_uint n = 0;
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n), "devices");
  std::vector<cl_device_id> ids(n);
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids.data(), nullptr), "devices");
  cl_int code = 0;
  cl_context context = clCreateContext(nullptr, n, ids.data(), nullptr, nullptr, &code);
  must(code, "context");
  const char* source = Source;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  must(code, "program");
  must(clBuildProgram(program, n, ids.data(), "", nullptr, nullptr), "build");
  cl_kernel kernel = clCreateKernel(program, "look", &code);
  must(code, "kernel");
  std::vector<Device> devices(n);
  for (cl_uint i = 0; i < n; ++i) {
    devices[i].queue = clCreateCommandQueue(context, ids[i], 0, &code);
    must(code, "queue");
    devices[i].sum = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof(cl_uint), nullptr, &code);
    must(code, "buffer");
  }
  std::vector<cl_uint> bytes((mib << 20) / sizeof(cl_uint));
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_ONLY, mib << 20, nullptr, &code);
  must(code, "buffer");
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  cl_uint state = 1;
  for (int round = 0; round < rounds; ++round) {
    for (cl_uint& b : bytes) b = state = state * 1103515245 + 12345;
    const cl_uint expected = sum_of(bytes), count = static_cast<cl_uint>(bytes.size());
    const auto began = std::chrono::steady_clock::now();
    cl_event written = nullptr;
    must(clEnqueueWriteBuffer(devices[0].queue, buffer, CL_FALSE, 0, mib << 20, bytes.data(), 0, nullptr, &written),
         "write");
    const size_t one = 1;
    std::vector<cl_int> outcome(n);
    must(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "argument");
    must(clSetKernelArg(kernel, 1, sizeof count, &count), "argument");
    must(clSetKernelArg(kernel, 2, sizeof Times, &Times), "argument");
    for (cl_uint i = 0; i < n; ++i) {
      must(clSetKernelArg(kernel, 3, sizeof(cl_mem), &devices[i].sum), "argument");
      outcome[i] = clEnqueueNDRangeKernel(devices[i].queue, kernel, 1, nullptr, &one, &one, 1, &written, nullptr);
      if (outcome[i] == CL_SUCCESS) outcome[i] = clFlush(devices[i].queue);
    }
    std::vector<cl_uint> sums(n);
    for (cl_uint i = 0; i < n; ++i) {
      if (outcome[i] == CL_SUCCESS)
        outcome[i] = clEnqueueReadBuffer(devices[i].queue, devices[i].sum, CL_TRUE, 0, sizeof(cl_uint), &sums[i], 0,
                                         nullptr, nullptr);
    }
    std::fprintf(stderr, "%.4f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    for (cl_uint i = 0; i < n; ++i) {
      if (outcome[i] != CL_SUCCESS)
        std::printf("%u of round %d: error %d\n", i, round, outcome[i]);
      else
        std::printf("%u of round %d: %s\n", i, round, sums[i] == expected ? "yes" : "NO");
    }
    clReleaseEvent(written);
  }
  clReleaseMemObject(buffer);
  for (const Device& d : devices) {
    clReleaseMemObject(d.sum);
    clReleaseCommandQueue(d.queue);
  }
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseContext(context);
  return 0;
}
