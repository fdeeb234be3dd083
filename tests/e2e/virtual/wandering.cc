// Buffers of one context that wander from device to device, thousands of times, changed by whatever changes buffers.
//
// Usage: wandering SEED ROUNDS [THREADS]. Each thread has buffers and kernels of its own, all share the queues. What
// buffers hold is also computed here; prints for each thread whether it is the same, and a sum of it.
#include <CL/cl.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

constexpr const char* Source = R"(
kernel void change(global uint* a, uint by) { size_t i = get_global_id(0); a[i] = a[i] * 1664525u + by; }
kernel void blend(global uint* a, global const uint* b, uint below, uint last) {
  uint i = get_global_id(0) & below;
  a[get_global_id(0)] ^= b[i] + b[last - i];
})";

struct Buffer {
  cl_mem mem;
  cl_mem part = nullptr;  // a part of it, from `origin` on
  size_t origin = 0, part_size = 0;
  std::vector<cl_uint> expected;
  cl_event wrote = nullptr;        // what changed it last
  std::vector<cl_event> reading;  // and what has been told to read it since
  size_t bytes() const { return expected.size() * sizeof(cl_uint); }
};

// What all threads share.
struct World {
  World() {
    cl_platform_id platform = nullptr;
    CHECK(clGetPlatformIDs(1, &platform, nullptr));
    cl_uint n = 0;
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n));
    std::vector<cl_device_id> devices(n);
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, devices.data(), nullptr));
    cl_int code = 0;
    context = clCreateContext(nullptr, n, devices.data(), nullptr, nullptr, &code);
    CHECK(code);
    const char* text = Source;
    program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    CHECK(clBuildProgram(program, n, devices.data(), "", nullptr, nullptr));
    for (cl_device_id device : devices) {
      queues.push_back(clCreateCommandQueue(context, device, 0, &code));
      CHECK(code);
    }
  }
  ~World() {
    for (cl_command_queue queue : queues) clReleaseCommandQueue(queue);
    clReleaseProgram(program);
    clReleaseContext(context);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  cl_context context = nullptr;
  cl_program program = nullptr;
  std::vector<cl_command_queue> queues;
};

class Wanderer {
 public:
  Wanderer(const World& world, unsigned seed) : random_(seed), context_(world.context), queues_(world.queues) {
    cl_int code = 0;
    change_ = clCreateKernel(world.program, "change", &code);
    mix_ = clCreateKernel(world.program, "blend", &code);
    CHECK(code);
    for (const size_t words : {25u, 1000u, 40'000u, 262'144u, 300'001u, 1'500'000u}) make(words);
  }
  ~Wanderer() {
    for (Buffer& b : buffers_) release(b);
    clReleaseKernel(change_);
    clReleaseKernel(mix_);
  }
  Wanderer(const Wanderer&) = delete;
  Wanderer& operator=(const Wanderer&) = delete;

  // The smaller ones more often.
  void step() {
    using W = Wanderer;
    static constexpr void (W::*Ways[])(Buffer&) = {&W::change, &W::change, &W::mix,     &W::fill,
                                                   &W::write,  &W::read,   &W::copy,    &W::copy,
                                                   &W::map,    &W::migrate, &W::read_twice, &W::read_twice};
    const size_t which = std::min(below(buffers_.size()), below(buffers_.size()));
    (this->*Ways[below(std::size(Ways))])(buffers_[which]);
    if (below(20) == 0) CHECK(clFinish(queue()));
    if (below(400) == 0) replace(buffers_[below(buffers_.size())]);
    if (below(600) == 0) part(buffers_[below(buffers_.size())]);
  }
  // Everything, at last.
  void compare() {
    cl_uint sum = 0;
    bool all = good_;
    for (Buffer& b : buffers_) {
      const std::vector<cl_uint> seen = contents(b);
      all = all && seen == b.expected;
      for (const cl_uint word : seen) sum = sum * 31 + word;
    }
    std::printf("contents of buffers: %s\nsum %u\n", all ? "yes" : "NO", sum);
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  cl_command_queue queue() { return queues_[below(queues_.size())]; }

  void make(size_t words) {
    Buffer b;
    b.expected.resize(words);
    for (cl_uint& word : b.expected) word = static_cast<cl_uint>(random_());
    cl_int code = 0;
    b.mem = clCreateBuffer(context_, CL_MEM_COPY_HOST_PTR, b.bytes(), b.expected.data(), &code);
    CHECK(code);
    buffers_.push_back(std::move(b));
  }
  void release(Buffer& b) {
    forget(b);
    if (b.part) CHECK(clReleaseMemObject(b.part));
    CHECK(clReleaseMemObject(b.mem));
  }
  // Another one in its place, while commands may still be under way.
  void replace(Buffer& b) {
    const std::vector<cl_uint> kept = b.expected;
    release(b);
    cl_int code = 0;
    b = {};
    b.expected = kept;
    b.mem = clCreateBuffer(context_, CL_MEM_COPY_HOST_PTR, b.bytes(), b.expected.data(), &code);
    CHECK(code);
  }
  void part(Buffer& b) {
    if (b.part || b.bytes() < 8192) return;
    b.origin = 4096;
    b.part_size = b.bytes() / 2 / sizeof(cl_uint) * sizeof(cl_uint);
    if (b.origin + b.part_size > b.bytes()) return;
    const cl_buffer_region region{b.origin, b.part_size};
    cl_int code = 0;
    b.part = clCreateSubBuffer(b.mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    CHECK(code);
  }

  // Whoever changes a buffer comes after all that used it, whoever reads it after who changed it, wherever they run.
  struct Waits {
    std::vector<cl_event> events;
    const cl_event* list() const { return events.empty() ? nullptr : events.data(); }
    cl_uint n() const { return static_cast<cl_uint>(events.size()); }
    Waits& reads(const Buffer& b) {
      if (b.wrote) events.push_back(b.wrote);
      return *this;
    }
    Waits& changes(const Buffer& b) {
      events.insert(events.end(), b.reading.begin(), b.reading.end());
      return reads(b);
    }
  };
  static void forget(Buffer& b) {
    for (cl_event event : b.reading) CHECK(clReleaseEvent(event));
    b.reading.clear();
    if (b.wrote) CHECK(clReleaseEvent(b.wrote));
    b.wrote = nullptr;
  }
  static void changed(Buffer& b, cl_event event) {
    forget(b);
    b.wrote = event;
  }
  static void changed(Buffer& b, Buffer& by, cl_event event) {
    CHECK(clRetainEvent(event));
    by.reading.push_back(event);
    changed(b, event);
  }

  void change(Buffer& b) {
    const auto by = static_cast<cl_uint>(random_());
    const bool of_part = b.part && below(2) == 0;
    const size_t first = of_part ? b.origin / sizeof(cl_uint) : 0;
    const size_t words = of_part ? b.part_size / sizeof(cl_uint) : b.expected.size();
    const cl_mem mem = of_part ? b.part : b.mem;
    CHECK(clSetKernelArg(change_, 0, sizeof mem, &mem));
    CHECK(clSetKernelArg(change_, 1, sizeof by, &by));
    const Waits w = Waits().changes(b);
    cl_event event = nullptr;
    const cl_command_queue q = queue();
    CHECK(clEnqueueNDRangeKernel(q, change_, 1, nullptr, &words, nullptr, w.n(), w.list(), &event));
    CHECK(clFlush(q));
    for (size_t i = first; i < first + words; ++i) b.expected[i] = b.expected[i] * 1664525u + by;
    changed(b, event);
  }
  void mix(Buffer& b) { mix(b, buffers_[below(buffers_.size())]); }
  // On several devices at the same time.
  void read_twice(Buffer& b) {
    change(b);
    for (size_t i = 0; i < queues_.size() + 1; ++i) mix(buffers_[i], b);
  }
  void mix(Buffer& b, Buffer& other) {
    if (&other == &b) return;
    // Half of it or more from both ends, again and again: a remainder would take longer than all else.
    const auto last = static_cast<cl_uint>(other.expected.size()) - 1, below = std::bit_floor(last + 1) - 1;
    CHECK(clSetKernelArg(mix_, 0, sizeof b.mem, &b.mem));
    CHECK(clSetKernelArg(mix_, 1, sizeof other.mem, &other.mem));
    CHECK(clSetKernelArg(mix_, 2, sizeof below, &below));
    CHECK(clSetKernelArg(mix_, 3, sizeof last, &last));
    const Waits w = Waits().changes(b).reads(other);
    cl_event event = nullptr;
    const size_t words = b.expected.size();
    const cl_command_queue q = queue();
    CHECK(clEnqueueNDRangeKernel(q, mix_, 1, nullptr, &words, nullptr, w.n(), w.list(), &event));
    CHECK(clFlush(q));
    const cl_uint* const from = other.expected.data();
    for (size_t first = 0; first < words; first += below + 1) {
      cl_uint* const to = b.expected.data() + first;
      for (size_t i = 0, n = std::min<size_t>(below + 1, words - first); i < n; ++i) to[i] ^= from[i] + from[last - i];
    }
    changed(b, other, event);
  }
  void fill(Buffer& b) {
    const auto pattern = static_cast<cl_uint>(random_());
    const size_t words = 1 + below(b.expected.size()), first = below(b.expected.size() - words + 1);
    const Waits w = Waits().changes(b);
    cl_event event = nullptr;
    const cl_command_queue q = queue();
    CHECK(clEnqueueFillBuffer(q, b.mem, &pattern, sizeof pattern, first * sizeof(cl_uint), words * sizeof(cl_uint),
                              w.n(), w.list(), &event));
    CHECK(clFlush(q));
    std::fill_n(b.expected.begin() + static_cast<long>(first), words, pattern);
    changed(b, event);
  }
  void write(Buffer& b) {
    const size_t words = std::min<size_t>(1 + below(b.expected.size()), 5000);
    const size_t first = below(b.expected.size() - words + 1);
    std::vector<cl_uint> put(words);
    for (cl_uint& word : put) word = static_cast<cl_uint>(random_());
    const Waits w = Waits().changes(b);
    CHECK(clEnqueueWriteBuffer(queue(), b.mem, CL_TRUE, first * sizeof(cl_uint), words * sizeof(cl_uint), put.data(),
                               w.n(), w.list(), nullptr));
    std::copy(put.begin(), put.end(), b.expected.begin() + static_cast<long>(first));
  }
  void read(Buffer& b) {
    if (below(4) == 0) good_ = good_ && contents(b) == b.expected;
  }
  std::vector<cl_uint> contents(Buffer& b) {
    std::vector<cl_uint> seen(b.expected.size());
    const Waits w = Waits().reads(b);
    CHECK(clEnqueueReadBuffer(queue(), b.mem, CL_TRUE, 0, b.bytes(), seen.data(), w.n(), w.list(), nullptr));
    return seen;
  }
  void copy(Buffer& b) {
    Buffer& other = buffers_[below(buffers_.size())];
    if (&other == &b) return;
    const size_t words = std::min(b.expected.size(), other.expected.size());
    const Waits w = Waits().changes(b).reads(other);
    cl_event event = nullptr;
    const cl_command_queue q = queue();
    CHECK(clEnqueueCopyBuffer(q, other.mem, b.mem, 0, 0, words * sizeof(cl_uint), w.n(), w.list(), &event));
    CHECK(clFlush(q));
    std::copy_n(other.expected.begin(), words, b.expected.begin());
    changed(b, other, event);
  }
  void map(Buffer& b) {
    const size_t words = std::min<size_t>(b.expected.size(), 1000);
    const Waits w = Waits().changes(b);
    cl_int code = 0;
    const cl_command_queue q = queue();
    constexpr cl_map_flags Flags = CL_MAP_READ | CL_MAP_WRITE;
    auto* const seen = static_cast<cl_uint*>(clEnqueueMapBuffer(q, b.mem, CL_TRUE, Flags, 0, words * sizeof(cl_uint),
                                                                w.n(), w.list(), nullptr, &code));
    CHECK(code);
    good_ = good_ && std::equal(seen, seen + words, b.expected.begin());
    for (size_t i = 0; i < words; ++i) b.expected[i] = seen[i] = seen[i] + 3;
    cl_event event = nullptr;
    CHECK(clEnqueueUnmapMemObject(q, b.mem, seen, 0, nullptr, &event));
    CHECK(clFlush(q));
    changed(b, event);
  }
  void migrate(Buffer& b) {
    const Waits w = Waits().changes(b);
    cl_event event = nullptr;
    const cl_command_queue q = queue();
    CHECK(clEnqueueMigrateMemObjects(q, 1, &b.mem, 0, w.n(), w.list(), &event));
    CHECK(clFlush(q));
    changed(b, event);
  }

  std::mt19937 random_;
  const cl_context context_;
  const std::vector<cl_command_queue>& queues_;
  cl_kernel change_ = nullptr, mix_ = nullptr;
  std::vector<Buffer> buffers_;
  bool good_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, unsigned otherwise) {
    return argc > i ? static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)) : otherwise;
  };
  const World world;
  std::vector<std::unique_ptr<Wanderer>> all;
  for (unsigned i = 0; i < number(3, 1); ++i) all.push_back(std::make_unique<Wanderer>(world, number(1, 1) + i));
  std::vector<std::thread> threads;
  for (const auto& one : all)
    threads.emplace_back([&] {
      for (unsigned i = number(2, 1000); i > 0; --i) one->step();
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : all) one->compare();
}
