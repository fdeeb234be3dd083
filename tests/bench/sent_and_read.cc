// Sends data of some kind to the device and reads it back, in buffers, and looks whether it is the same.
//
// Usage: sent_and_read KIND MIB [BUFFER_MIB [ROUNDS]]. KIND: floats (smooth, some noise), weights (normally distributed
// floats), doubles, text, random, zeros, mixed (all of these in turns). Prints the seconds of the writes and of the
// reads, each round.
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/random_bytes.h"

namespace {

constexpr size_t MiB = size_t{1} << 20;
using Bytes = std::vector<unsigned char>;

void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

template <class Number, class Next>
void fill(unsigned char* to, size_t bytes, Next next) {
  for (size_t i = 0; i < bytes / sizeof(Number); ++i) {
    const auto number = static_cast<Number>(next(i));
    std::memcpy(to + i * sizeof number, &number, sizeof number);
  }
}

void fill_kind(const std::string& kind, unsigned char* to, size_t bytes, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, 0.02);
  const auto smooth = [](size_t i) { return std::sin(static_cast<double>(i) * 1e-4) * 100; };
  if (kind == "floats")
    return fill<float>(to, bytes, [&](size_t i) { return smooth(i) + 1e-4 * static_cast<double>(random() % 1000); });
  if (kind == "weights") return fill<float>(to, bytes, [&](size_t) { return normal(random); });
  if (kind == "doubles") return fill<double>(to, bytes, smooth);
  if (kind == "text") {
    static const char* const words[] = {"the ",   "link ", "of ", "a ",    "proxy ",
                                        "takes ", "bytes", ", ",  "and\n", "device "};
    for (size_t at = 0; at < bytes;) {
      const std::string number = random() % 8 ? words[random() % std::size(words)] : std::to_string(random() % 10000);
      const size_t n = std::min(number.size(), bytes - at);
      std::memcpy(to + at, number.data(), n);
      at += n;
    }
    return;
  }
  if (kind == "random") {
    Bytes some(bytes);
    gt::testing::randomize(random, some);
    std::copy(some.begin(), some.end(), to);
    return;
  }
  if (kind == "mixed") {
    static const char* const all[] = {"floats", "random", "zeros", "text", "weights", "random", "doubles"};
    size_t turn = 0;
    for (size_t at = 0, n = 0; at < bytes; at += n, ++turn) {
      n = std::min<size_t>(bytes - at, 1000 + random() % (3 * MiB));
      fill_kind(all[turn % std::size(all)], to + at, n, random);
    }
    return;
  }
  std::memset(to, 0, bytes);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const size_t bytes = MiB * std::strtoul(argv[2], nullptr, 10);
  const size_t each = MiB * (argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 16);
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 1;
  std::mt19937_64 random(11);
  Bytes content(bytes), back(bytes);
  fill_kind(argv[1], content.data(), bytes, random);
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
    buffers.push_back(clCreateBuffer(context, CL_MEM_READ_WRITE, std::min(each, bytes - at), nullptr, &code));
    check(code, "clCreateBuffer");
  }
  for (int round = 0; round < rounds; ++round) {
    auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < buffers.size(); ++i)
      check(clEnqueueWriteBuffer(queue, buffers[i], CL_FALSE, 0, std::min(each, bytes - i * each),
                                 content.data() + i * each, 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
    check(clFinish(queue), "clFinish");
    const double writing = seconds_since(begin);
    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0x5a));
    begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < buffers.size(); ++i)
      check(clEnqueueReadBuffer(queue, buffers[i], CL_FALSE, 0, std::min(each, bytes - i * each),
                                back.data() + i * each, 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
    check(clFinish(queue), "clFinish");
    const double reading = seconds_since(begin);
    if (back != content) return std::fprintf(stderr, "what was read is not what was sent\n"), 1;
    std::printf("%.4f %.4f\n", writing, reading);
    std::fflush(stdout);
  }
  for (cl_mem buffer : buffers) clReleaseMemObject(buffer);
  return 0;
}
