// Moves between two devices, size by size: through pinned memory, through slots in the devices' own memory ("peers"),
// and of buffers that live in such memory ("peer-mapped"); or, where there is one device only, between two contexts of
// it, which shows what slots cost besides the copy between devices, and that contents arrive.
//
// Usage: peer_bench [FIRST SECOND [PLATFORM]]      numbers, 0 1 0 otherwise; a device past the end: the last
//
// Two contexts take turns on the one device then, which costs some 140 us each time on an H200.
#include <CL/cl.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "transport/executor/base/cl.h"
#include "transport/moves/native_moves.h"
#include "tests/bench/bench.h"

namespace gt::moves {
namespace {

struct Device {
  cl_context context;
  cl_command_queue queue;
  cl_mem mem;
};

constexpr size_t Largest = size_t{256} << 20;

Device open(cl_device_id id) {
  cl_int code = 0;
  Device d{clCreateContext(nullptr, 1, &id, nullptr, nullptr, &code), nullptr, nullptr};
  check(code, "clCreateContext");
  d.queue = clCreateCommandQueue(d.context, id, 0, &code);
  check(code, "clCreateCommandQueue");
  d.mem = clCreateBuffer(d.context, CL_MEM_READ_WRITE, Largest, nullptr, &code);
  check(code, "clCreateBuffer");
  return d;
}

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

class Moving {
 public:
  Moving(const Device& from, const Device& to, NativeMoves& moves) : from_(from), to_(to), moves_(moves) {}
  // Microseconds, the median; contents are checked each time.
  double measure(size_t bytes) { return measure(bytes, from_.mem, to_.mem); }
  // The same for a buffer that lives in memory of CUDA's on both; nothing where that is not possible.
  double measure_peer_mapped(size_t bytes) {
    using Side = NativeMoves::Side;
    const auto from = moves_.make_peer_mapped(Side::From, bytes), to = moves_.make_peer_mapped(Side::To, bytes);
    return from && to ? measure(bytes, {from->mem(), from.get()}, {to->mem(), to.get()}) : 0;
  }
  double once(size_t bytes) { return once(bytes, from_.mem, to_.mem); }

 private:
  double measure(size_t bytes, const NativeMoves::Held& from, const NativeMoves::Held& to) {
    std::vector<double> times;
    for (int i = 0; i < 23; ++i) {
      const double took = once(bytes, from, to);
      if (i > 1) times.push_back(took);
    }
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    return times[10];
  }
  double once(size_t bytes, const NativeMoves::Held& from, const NativeMoves::Held& to) {
    std::vector<uint32_t> put(bytes / 4), seen(bytes / 4);
    for (uint32_t& word : put) word = state_ = state_ * 1664525u + 1013904223u;
    check(clEnqueueWriteBuffer(from_.queue, from.mem, CL_TRUE, 0, bytes, put.data(), 0, nullptr, nullptr), "write");
    copy::Region all;
    all.region = {bytes, 1, 1};
    const double begin = now_us();
    check(moves_.move(from, to, all, 1).code, "move");
    const double took = now_us() - begin;
    check(clEnqueueReadBuffer(to_.queue, to.mem, CL_TRUE, 0, bytes, seen.data(), 0, nullptr, nullptr), "read");
    if (put != seen) check(CL_OUT_OF_RESOURCES, "other contents arrived");
    return took;
  }

  const Device &from_, &to_;
  NativeMoves& moves_;
  uint32_t state_ = 1;
};

const cuda::Functions* none() { return nullptr; }

int run(unsigned platform, int first, int second) {
  const std::vector<cl_device_id> all = devices_of(platform);
  const auto pick = [&](int wanted) { return all[std::min(static_cast<size_t>(wanted), all.size() - 1)]; };
  const exec::Cl cl(exec::functions_of(::dlopen("libOpenCL.so.1", RTLD_NOW)));
  const Device from = open(pick(first)), to = open(pick(second));
  const MoveEnd ends[2] = {{cl, from.context, pick(first)}, {cl, to.context, pick(second)}};
  NativeMoves pinned(ends[0], ends[1], {none, 0}), peers(ends[0], ends[1], {cuda::driver, 0, 1, true});
  Moving a(from, to, pinned), b(from, to, peers);
  const double begin = now_us();
  b.once(size_t{16} << 20);
  while (!peers.has_looked()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::printf("%s; set up and tried in %.0f ms%s\n",
              pick(first) == pick(second) ? "two contexts of one device" : "two devices", (now_us() - begin) / 1e3,
              peers.peer_from() ? "" : ": not possible here, both columns are pinned memory");
  std::printf("%12s %12s %12s %12s %10s %10s %10s\n", "bytes", "pinned us", "peers us", "mapped us", "GB/s", "GB/s",
              "GB/s");
  for (size_t bytes = 4096; bytes <= Largest; bytes *= 4) {
    const double us = a.measure(bytes), peer_us = b.measure(bytes), mapped_us = b.measure_peer_mapped(bytes);
    const auto rate = [&](double took) { return took > 0 ? static_cast<double>(bytes) / took / 1e3 : 0; };
    std::printf("%12zu %12.1f %12.1f %12.1f %10.2f %10.2f %10.2f\n", bytes, us, peer_us, mapped_us, rate(us),
                rate(peer_us), rate(mapped_us));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace gt::moves

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  return gt::moves::run(static_cast<unsigned>(number(3, 0)), number(1, 0), number(2, 1));
}
