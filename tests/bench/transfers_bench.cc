// How fast one block of the program's goes to a device and back, by size: blocking writes and reads, medians.
//
// Usage: transfers_bench [DEVICE [LARGEST_MIB]]   DEVICE: number in the platform's list of all types; -1: the last
// Prints "bytes write_us read_us copy_us", a line a size; a copy is memcpy by this thread, between blocks of its own.
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

template <class Work>
double median_us(size_t bytes, Work work) {
  const size_t rounds = std::clamp<size_t>((size_t{1} << 30) / bytes, 7, 200);
  std::vector<double> us;
  for (size_t i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

void must(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "transfers_bench: %s: %d\n", what, code);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const int wanted = argc > 1 ? std::atoi(argv[1]) : -1;
  const size_t largest = (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 256) << 20;
  cl_platform_id platform;
  cl_device_id devices[64];
  cl_uint count = 0;
  must(clGetPlatformIDs(1, &platform, nullptr), "no platform");
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 64, devices, &count), "no device");
  cl_device_id device = devices[wanted < 0 ? count - 1 : static_cast<cl_uint>(wanted)];
  cl_int err = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &err);
  must(err, "no context");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &err);
  must(err, "no queue");
  for (size_t bytes = size_t{64} << 10; bytes <= largest; bytes *= 4) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &err);
    must(err, "no buffer");
    auto* const block = static_cast<char*>(std::malloc(bytes));
    std::vector<char> from(bytes, 1), to(bytes, 2);
    if (!block) return 1;
    std::memset(block, 3, bytes);
    for (int warm = 0; warm < 3; ++warm) {
      must(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, block, 0, nullptr, nullptr), "a write");
      must(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, block, 0, nullptr, nullptr), "a read");
    }
    const double write = median_us(bytes, [&] {
      must(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, block, 0, nullptr, nullptr), "a write");
    });
    const double read = median_us(bytes, [&] {
      must(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, block, 0, nullptr, nullptr), "a read");
    });
    const double copy = median_us(bytes, [&] {
      std::memcpy(to.data(), from.data(), bytes);
      __asm__ volatile("" : : "r"(to.data()) : "memory");
    });
    std::printf("%zu %.1f %.1f %.1f\n", bytes, write, read, copy);
    std::fflush(stdout);
    std::free(block);
    clReleaseMemObject(buffer);
  }
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
