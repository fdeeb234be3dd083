// A buffer that goes from device to device of one context: written on one, used on the next.
//
// Usage: moves_bench [FIRST SECOND [PLATFORM]]     numbers of devices and of the platform; 0 1 0
// Run it natively and under `goptimize run --spread`, in one sitting. A move is what a kernel that reads some bytes on
// the second device takes more when the buffer was changed on the first one: both are finished before the clock starts.
// "used again": on the same device; "shared": in turns on both, which only read it. Contents are checked.
// "chain": a link of a chain of kernels, in turns on both devices, each of which changes it and waits for the one
// before by its event; nothing else is waited for but the last.
// "socket": as many bytes over a bare TCP connection of the loopback device, in the same round: what a move between two
// proxies of this machine can reach at most.
#include <CL/cl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/bench/bench.h"

namespace {

constexpr const char* Source = R"(
kernel void put(global uint* all, uint last, uint value) { all[0] = value; all[last] = value + 1; }
kernel void get(global const uint* all, uint last, global uint* out) { out[0] = all[0]; out[1] = all[last]; })";

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// A connection to a thread that reads, and answers each so many bytes with one.
class BareSocket {
 public:
  BareSocket() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0), on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const bool good = ::bind(listener, generic, size) == 0 && ::listen(listener, 1) == 0 &&
                      ::getsockname(listener, generic, &size) == 0 && ::connect(fd_, generic, size) == 0;
    if (!good) check(CL_OUT_OF_RESOURCES, "a socket");
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::thread([peer = ::accept(listener, nullptr, nullptr)] { answer(peer); }).detach();
    ::close(listener);
  }
  // Microseconds until all have arrived.
  double send(const std::vector<char>& bytes) {
    const double begin = now_us();
    const size_t size = bytes.size();
    all(::write, fd_, reinterpret_cast<const char*>(&size), sizeof size);
    all(::write, fd_, bytes.data(), size);
    char over = 0;
    all(::read, fd_, &over, 1);
    return now_us() - begin;
  }

 private:
  template <class Call, class Byte>
  static bool all(Call call, int fd, Byte* at, size_t bytes) {
    while (bytes > 0) {
      const ssize_t n = call(fd, at, bytes);
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<size_t>(n);
    }
    return true;
  }
  static void answer(int fd) {
    std::vector<char> memory;
    for (size_t size = 0; all(::read, fd, reinterpret_cast<char*>(&size), sizeof size);) {
      memory.resize(std::max(memory.size(), size));
      const char over = 1;
      if (!all(::read, fd, memory.data(), size) || !all(::write, fd, &over, 1)) return;
    }
  }
  int fd_ = -1;
};

struct Setup {
  cl_device_id devices[2];
  cl_context context;
  cl_command_queue queues[2];
  cl_kernel put, get;
  cl_mem out[2];
};

std::vector<cl_device_id> devices_of(unsigned platform) {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  if (platform >= count) check(CL_INVALID_PLATFORM, "no such platform");
  check(clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, 0, nullptr, &count), "clGetDeviceIDs");
  std::vector<cl_device_id> devices(count);
  check(clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "clGetDeviceIDs");
  return devices;
}

Setup set_up(unsigned platform, unsigned first, unsigned second) {
  const std::vector<cl_device_id> all = devices_of(platform);
  if (std::max(first, second) >= all.size() || first == second) check(CL_INVALID_DEVICE, "two devices are needed");
  Setup s{{all[first], all[second]}, nullptr, {}, nullptr, nullptr, {}};
  cl_int code = 0;
  s.context = clCreateContext(nullptr, 2, s.devices, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  const char* text = Source;
  const cl_program program = clCreateProgramWithSource(s.context, 1, &text, nullptr, &code);
  check(clBuildProgram(program, 2, s.devices, "", nullptr, nullptr), "clBuildProgram");
  s.put = clCreateKernel(program, "put", &code);
  s.get = clCreateKernel(program, "get", &code);
  for (int i = 0; i < 2; ++i) {
    s.queues[i] = clCreateCommandQueue(s.context, s.devices[i], 0, &code);
    check(code, "clCreateCommandQueue");
    s.out[i] = clCreateBuffer(s.context, CL_MEM_READ_WRITE, 8, nullptr, &code);
  }
  return s;
}

void launch(cl_command_queue queue, cl_kernel kernel) {
  const size_t one = 1;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr), "a kernel");
  check(clFinish(queue), "clFinish");
}

void put(Setup& s, int where, cl_mem mem, cl_uint last, cl_uint value) {
  check(clSetKernelArg(s.put, 0, sizeof mem, &mem), "clSetKernelArg");
  check(clSetKernelArg(s.put, 1, sizeof last, &last), "clSetKernelArg");
  check(clSetKernelArg(s.put, 2, sizeof value, &value), "clSetKernelArg");
  launch(s.queues[where], s.put);
}

// Microseconds.
double get(Setup& s, int where, cl_mem mem, cl_uint last) {
  check(clSetKernelArg(s.get, 0, sizeof mem, &mem), "clSetKernelArg");
  check(clSetKernelArg(s.get, 1, sizeof last, &last), "clSetKernelArg");
  check(clSetKernelArg(s.get, 2, sizeof(cl_mem), &s.out[where]), "clSetKernelArg");
  const double begin = now_us();
  launch(s.queues[where], s.get);
  return now_us() - begin;
}

void expect(Setup& s, int where, cl_uint value) {
  cl_uint seen[2] = {};
  const cl_command_queue queue = s.queues[where];
  check(clEnqueueReadBuffer(queue, s.out[where], CL_TRUE, 0, sizeof seen, seen, 0, nullptr, nullptr), "read");
  if (seen[0] == value && seen[1] == value + 1) return;
  std::fprintf(stderr, "moves_bench: wrong contents: %u %u instead of %u\n", seen[0], seen[1], value);
  std::exit(1);
}

// Microseconds for a link.
double chain(Setup& s, cl_mem mem, cl_uint last, cl_uint value) {
  constexpr int Links = 16;
  const size_t one = 1;
  cl_event before = nullptr;
  check(clSetKernelArg(s.put, 0, sizeof mem, &mem), "clSetKernelArg");
  check(clSetKernelArg(s.put, 1, sizeof last, &last), "clSetKernelArg");
  check(clSetKernelArg(s.put, 2, sizeof value, &value), "clSetKernelArg");
  const double begin = now_us();
  for (int i = 0; i < Links; ++i) {
    cl_event event = nullptr;
    const cl_command_queue queue = s.queues[i % 2];
    check(clEnqueueNDRangeKernel(queue, s.put, 1, nullptr, &one, nullptr, before ? 1 : 0, before ? &before : nullptr,
                                 &event), "a kernel");
    check(clFlush(queue), "clFlush");
    if (before) clReleaseEvent(before);
    before = event;
  }
  check(clWaitForEvents(1, &before), "clWaitForEvents");
  const double took = now_us() - begin;
  clReleaseEvent(before);
  return took / Links;
}

// Until whoever moves contents knows how they go best here: 1.5 s.
void warm_up(Setup& s) {
  constexpr size_t Bytes = size_t{16} << 20;
  cl_int code = 0;
  const cl_mem mem = clCreateBuffer(s.context, CL_MEM_READ_WRITE, Bytes, nullptr, &code);
  check(code, "clCreateBuffer");
  for (const double begin = now_us(); now_us() - begin < 1.5e6;)
    for (const int where : {0, 1}) put(s, where, mem, Bytes / sizeof(cl_uint) - 1, 1);
  clReleaseMemObject(mem);
}

void measure(Setup& s, BareSocket& socket, size_t bytes) {
  const bool small = bytes <= size_t{16} << 20;
  const int rounds = small ? 21 : 7, unmeasured = small ? 25 : 2;
  cl_int code = 0;
  const cl_mem mem = clCreateBuffer(s.context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
  check(code, "clCreateBuffer");
  const auto last = static_cast<cl_uint>(bytes / sizeof(cl_uint) - 1);
  std::vector<double> there, back, again, shared, chained, bare;
  const std::vector<char> memory(bytes, 1);
  for (int i = -unmeasured; i < rounds; ++i) {
    const auto value = static_cast<cl_uint>(1000 + 10 * i);
    put(s, 0, mem, last, value);
    const double a = get(s, 1, mem, last);
    expect(s, 1, value);
    const double used_again = get(s, 1, mem, last);
    const double in_turns = (get(s, 0, mem, last) + get(s, 1, mem, last)) / 2;
    put(s, 1, mem, last, value + 5);
    const double b = get(s, 0, mem, last);
    expect(s, 0, value + 5);
    const double in_chain = chain(s, mem, last, value + 7);
    get(s, 1, mem, last);
    expect(s, 1, value + 7);
    const double alone = socket.send(memory);
    if (i < 0) continue;
    there.push_back(a);
    back.push_back(b);
    again.push_back(used_again);
    shared.push_back(in_turns);
    chained.push_back(in_chain);
    bare.push_back(alone);
  }
  const double kernel = median(again), a = median(there), b = median(back);
  const auto rate = [&](double us) { return static_cast<double>(bytes) / std::max(us - kernel, 0.01) / 1e3; };
  std::printf("%12zu %10.1f %10.1f %10.1f %10.1f %10.1f %10.2f %10.2f %10.2f\n", bytes, a, b, kernel, median(shared),
              median(chained), rate(a), rate(b), static_cast<double>(bytes) / median(bare) / 1e3);
  std::fflush(stdout);
  clReleaseMemObject(mem);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, unsigned otherwise) {
    return argc > i ? static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)) : otherwise;
  };
  Setup s = set_up(number(3, 0), number(1, 0), number(2, 1));
  BareSocket socket;
  warm_up(s);
  std::printf("%12s %10s %10s %10s %10s %10s %10s %10s %10s\n", "bytes", "there us", "back us", "used again", "shared",
              "chain us", "GB/s", "GB/s back", "socket");
  for (size_t bytes = 4096; bytes <= size_t{256} << 20; bytes *= 4) measure(s, socket, bytes);
}
