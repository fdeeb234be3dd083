// Vector addition: the loop of the paper (write, set arguments, launch, read), with a switch for
// every loop shape that a trace must fold.
//
// Values are small whole numbers, so that every sum is exact in a float (up to 2^24 ping-pong
// iterations).
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "microbench/apps/harness.h"

namespace gt::apps {
namespace {

constexpr const char* Source = R"(
kernel void vadd(global const float* a, global const float* b, global float* c) {
  const size_t i = get_global_id(0);
  c[i] = a[i] + b[i];
}
kernel void vadd_scaled(global const float* a, global const float* b, global float* c, float alpha,
                        uint limit) {
  const size_t i = get_global_id(0);
  if (i < limit) c[i] = a[i] + alpha * b[i];
}
)";

struct Settings {
  int64_t elements = 1 << 20, iterations = 10, threads = 1, kill_at = 0;
  bool ping_pong = false, alloc_in_loop = false, buffers_in_loop = false, scalar = false;
  bool map = false, async = false, by_abort = false, by_exit = false;

  size_t count() const { return static_cast<size_t>(elements); }
  size_t bytes() const { return count() * sizeof(float); }
};
Settings g_set;

// One helper for each purpose, so that each kind of memory has a call site of its own.
[[gnu::noinline]] float* allocate_first(size_t bytes) {
  auto* p = static_cast<float*>(check_memory(malloc(bytes), bytes));
  for (size_t i = 0; i < bytes / sizeof(float); ++i) p[i] = static_cast<float>(i % 1024);
  return p;
}
[[gnu::noinline]] float* allocate_second(size_t bytes) {
  auto* p = static_cast<float*>(check_memory(malloc(bytes), bytes));
  for (size_t i = 0; i < bytes / sizeof(float); ++i) p[i] = static_cast<float>(i % 2);
  return p;
}
[[gnu::noinline]] float* allocate_result(size_t bytes) {
  return static_cast<float*>(check_memory(malloc(bytes), bytes));
}

float alpha_of(int64_t iteration) {
  return g_set.scalar ? static_cast<float>(iteration % 4) : 1.0f;
}

void end_early(int64_t iteration) {
  if (g_set.kill_at == 0 || iteration + 1 != g_set.kill_at) return;
  if (g_set.by_exit) std::exit(3);
  if (g_set.by_abort) std::abort();
  std::raise(SIGKILL);
}

// One thread's worth: its own queue, kernel, buffers and host memory.
class Worker {
 public:
  Worker(const Device& device, cl_program program)
      : device_(device),
        queue_(make_queue(device)),
        kernel_(make_kernel(program, g_set.scalar ? "vadd_scaled" : "vadd")) {
    if (!g_set.alloc_in_loop) allocate();
    if (!g_set.buffers_in_loop) create_buffers();
  }

  void run() {
    for (int64_t i = 0; i < g_set.iterations; ++i) {
      if (g_set.alloc_in_loop) allocate();
      if (g_set.buffers_in_loop) create_buffers();
      iterate(i);
      const bool last = i + 1 == g_set.iterations;
      if (last) verify(i);
      if (g_set.alloc_in_loop || last) deallocate();
      if (g_set.buffers_in_loop || last) release_buffers();
      end_early(i);
    }
  }

  void close() {
    check(clReleaseKernel(kernel_), "clReleaseKernel");
    check(clReleaseCommandQueue(queue_), "clReleaseCommandQueue");
  }

  bool correct() const { return correct_; }
  uint64_t sum() const { return sum_; }
  double seconds() const { return seconds_; }

 private:
  void allocate() {
    a_ = allocate_first(g_set.bytes());
    b_ = allocate_second(g_set.bytes());
    c_ = allocate_result(g_set.bytes());
  }
  void deallocate() {
    free(a_);
    free(b_);
    free(c_);
  }
  void create_buffers() {
    da_ =
        make_buffer(device_, g_set.ping_pong ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY, g_set.bytes());
    db_ = make_buffer(device_, CL_MEM_READ_ONLY, g_set.bytes());
    dc_ = make_buffer(device_, g_set.ping_pong ? CL_MEM_READ_WRITE : CL_MEM_WRITE_ONLY,
                      g_set.bytes());
  }
  void release_buffers() {
    release(da_);
    release(db_);
    release(dc_);
  }

  void iterate(int64_t i) {
    const double start = now_s();
    if (!g_set.ping_pong || i == 0) send(da_, a_);
    send(db_, b_);
    launch(i);
    receive(dc_, c_);
    if (g_set.async) check(clFinish(queue_), "clFinish");
    if (g_set.ping_pong) std::swap(da_, dc_);
    seconds_ += now_s() - start;
  }

  void send(cl_mem buffer, const float* from) {
    if (g_set.map) return copy_mapped(buffer, CL_MAP_WRITE, nullptr, from);
    check(clEnqueueWriteBuffer(queue_, buffer, g_set.async ? CL_FALSE : CL_TRUE, 0, g_set.bytes(),
                               from, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }

  void launch(int64_t i) {
    set_arg(kernel_, 0, sizeof da_, &da_);
    set_arg(kernel_, 1, sizeof db_, &db_);
    set_arg(kernel_, 2, sizeof dc_, &dc_);
    const float alpha = alpha_of(i);
    const cl_uint limit = static_cast<cl_uint>(g_set.elements + i);  // grows, and excludes nothing
    if (g_set.scalar) {
      set_arg(kernel_, 3, sizeof alpha, &alpha);
      set_arg(kernel_, 4, sizeof limit, &limit);
    }
    const size_t global = g_set.count();
    check(
        clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  }

  void receive(cl_mem buffer, float* to) {
    if (g_set.map) return copy_mapped(buffer, CL_MAP_READ, to, nullptr);
    if (g_set.async) return receive_by_event(buffer, to);
    check(clEnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, g_set.bytes(), to, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

  void receive_by_event(cl_mem buffer, float* to) {
    cl_event done = nullptr;
    check(clEnqueueReadBuffer(queue_, buffer, CL_FALSE, 0, g_set.bytes(), to, 0, nullptr, &done),
          "clEnqueueReadBuffer");
    check(clWaitForEvents(1, &done), "clWaitForEvents");
    check(clReleaseEvent(done), "clReleaseEvent");
  }

  // Copies into the buffer (`from`) or out of it (`to`) through a mapping.
  void copy_mapped(cl_mem buffer, cl_map_flags flags, float* to, const float* from) {
    cl_int error = CL_SUCCESS;
    auto* view = static_cast<float*>(clEnqueueMapBuffer(
        queue_, buffer, CL_TRUE, flags, 0, g_set.bytes(), 0, nullptr, nullptr, &error));
    check(error, "clEnqueueMapBuffer");
    for (size_t i = 0; i < g_set.count(); ++i)
      (to != nullptr ? to[i] : view[i]) = from != nullptr ? from[i] : view[i];
    check(clEnqueueUnmapMemObject(queue_, buffer, view, 0, nullptr, nullptr),
          "clEnqueueUnmapMemObject");
    if (from == nullptr) check(clFinish(queue_), "clFinish");
  }

  // What `last` iterations left must be in c_. Ping-pong adds b once an iteration, else only the
  // last one counts.
  void verify(int64_t last) {
    float factor = alpha_of(last);
    if (g_set.ping_pong)
      for (int64_t i = 0; i < last; ++i) factor += alpha_of(i);
    correct_ = true;
    for (size_t i = 0; i < g_set.count(); ++i)
      correct_ = correct_ && c_[i] == a_[i] + factor * b_[i];
    sum_ = checksum({c_, g_set.count()});
  }

  Device device_;
  cl_command_queue queue_;
  cl_kernel kernel_;
  float *a_ = nullptr, *b_ = nullptr, *c_ = nullptr;
  cl_mem da_ = nullptr, db_ = nullptr, dc_ = nullptr;
  bool correct_ = false;
  uint64_t sum_ = 0;
  double seconds_ = 0;
};

void run_all(std::vector<Worker>& workers) {
  if (workers.size() == 1) return workers.front().run();
  std::vector<std::thread> threads;
  for (Worker& w : workers) threads.emplace_back([&w] { w.run(); });
  for (std::thread& t : threads) t.join();
}

int run() {
  Device device = open_device();
  cl_program program = build(device, Source);
  std::vector<Worker> workers;
  workers.reserve(static_cast<size_t>(g_set.threads));
  for (int64_t t = 0; t < g_set.threads; ++t) workers.emplace_back(device, program);
  run_all(workers);

  bool correct = true;
  uint64_t sum = 0;
  double seconds = 0;
  for (Worker& w : workers) {
    correct = correct && w.correct();
    sum += w.sum();
    seconds = seconds < w.seconds() ? w.seconds() : seconds;
    w.close();
  }
  check(clReleaseProgram(program), "clReleaseProgram");
  close_device(device);
  return finish("vadd", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  using gt::apps::g_set;
  const gt::apps::Option options[] = {
      {"--elements", "floats in a vector", &g_set.elements},
      {"--iterations", "times to write, launch and read", &g_set.iterations},
      {"--threads", "threads, each with its own queue and buffers", &g_set.threads},
      {"--ping-pong", "the result is the next iteration's first operand", nullptr,
       &g_set.ping_pong},
      {"--alloc-in-loop", "malloc and free in every iteration", nullptr, &g_set.alloc_in_loop},
      {"--buffers-in-loop", "create and release the buffers in every iteration", nullptr,
       &g_set.buffers_in_loop},
      {"--scalar", "scalar arguments that change: one periodic, one growing", nullptr,
       &g_set.scalar},
      {"--map", "map the buffers in place of writing and reading", nullptr, &g_set.map},
      {"--async", "non-blocking transfers", nullptr, &g_set.async},
      {"--kill-at", "raise SIGKILL after this iteration", &g_set.kill_at},
      {"--abort", "call abort() there instead", nullptr, &g_set.by_abort},
      {"--exit", "call exit(3) there instead", nullptr, &g_set.by_exit}};
  gt::apps::parse(argc, argv, "Adds two vectors on an OpenCL device and checks the result.",
                  options);
  if (g_set.elements == 0 || g_set.iterations == 0 || g_set.threads == 0 || g_set.threads > 256 ||
      (g_set.ping_pong && (g_set.alloc_in_loop || g_set.buffers_in_loop))) {
    std::fprintf(stderr,
                 "%s: counts must be positive, and --ping-pong keeps its memory (try --help)\n",
                 argv[0]);
    return 2;
  }
  return gt::apps::run();
}
