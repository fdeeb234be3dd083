// What programs begin with: sends random bytes to the device, in buffers as layers of a network have, and uses each.
//
// Usage: weights MIB [BUFFER_MIB [ROUNDS]]. Prints the seconds from the first write to the end of the last, each round.
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "tests/random_bytes.h"

namespace {

void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const size_t MiB = size_t{1} << 20, bytes = MiB * std::strtoul(argv[1], nullptr, 10);
  const size_t each = MiB * (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 16);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 1;
  std::mt19937_64 random(7);
  std::vector<unsigned char> weights(bytes);
  gt::testing::randomize(random, weights);
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int code = 0;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  std::vector<cl_mem> buffers;
  for (size_t at = 0; at < bytes; at += each) {
    buffers.push_back(clCreateBuffer(context, CL_MEM_READ_ONLY, std::min(each, bytes - at), nullptr, &code));
    check(code, "clCreateBuffer");
  }
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < buffers.size(); ++i) {
      const size_t at = i * each;
      check(clEnqueueWriteBuffer(queue, buffers[i], CL_FALSE, 0, std::min(each, bytes - at), weights.data() + at, 0,
                                 nullptr, nullptr), "clEnqueueWriteBuffer");
    }
    check(clFinish(queue), "clFinish");
    std::printf("%.4f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::fflush(stdout);
  }
  for (cl_mem buffer : buffers) clReleaseMemObject(buffer);
  return 0;
}
