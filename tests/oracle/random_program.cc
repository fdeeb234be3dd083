// A program that calls OpenCL and the allocator at random, the same calls for the same seed: nested loops of steps
// whose arguments are constant, affine in the loop counters, periodic or random.
//
// Each thread has its own state and random numbers, so a thread's calls depend on the seed and its number alone. A
// step that finds its buffer or memory missing makes it first. Some calls are wrong on purpose and must fail alike.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "microbench/apps/harness.h"

namespace {

using gt::apps::check;

constexpr const char* Source = R"(
kernel void scale(global float* a, float factor) { a[get_global_id(0)] *= factor; }
kernel void add(global const float* a, global float* b, uint n, local float* scratch) {
  const size_t i = get_global_id(0);
  scratch[get_local_id(0)] = i < n ? a[i] : 0.0f;
  b[i] += scratch[get_local_id(0)];
}
)";
constexpr size_t Slots = 6;
constexpr size_t Floats = 256;  // in every buffer and every piece of memory
constexpr size_t FullSize = Floats * sizeof(float);

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435761u + 1) {}
  uint64_t below(uint64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % n;
  }

 private:
  uint64_t state_;
};

// A number that a step uses: how it varies over the iterations of the loops around it.
struct Varying {
  enum Form { Constant, Affine, Periodic, Irregular } form = Constant;
  uint64_t base = 0, step = 0;
  uint64_t at(uint64_t iteration, Random& random) const {
    switch (form) {
      case Constant: return base;
      case Affine: return base + step * iteration;
      case Periodic: return base + iteration % (2 + step % 3);
      case Irregular: return random.below(1000);
    }
    return base;
  }
};

// A node of the random program: a step, or a loop over nodes.
struct Node {
  uint64_t action = 0;
  Varying slot, amount;
  Varying trips;
  std::vector<Node> body;  // empty: a step
};

constexpr uint64_t Actions = 16;

Varying make_varying(Random& random) {
  return {static_cast<Varying::Form>(random.below(4)), random.below(1000), random.below(5)};
}

Node make_node(Random& random, int depth) {
  Node node;
  node.slot = make_varying(random);
  node.amount = make_varying(random);
  node.action = random.below(Actions);
  if (depth > 0 && random.below(3) == 0) {
    node.trips = {random.below(4) == 0 ? Varying::Irregular : Varying::Constant, 2 + random.below(12), 0};
    for (uint64_t i = 0; i < 1 + random.below(6); ++i) node.body.push_back(make_node(random, depth - 1));
  }
  return node;
}

class Machine {
 public:
  Machine(const gt::apps::Device& device, cl_program program, uint64_t seed)
      : device_(device), random_(seed), queue_(gt::apps::make_queue(device)),
        scale_(gt::apps::make_kernel(program, "scale")), add_(gt::apps::make_kernel(program, "add")) {}

  void run(const std::vector<Node>& nodes, uint64_t iteration) {
    for (const Node& node : nodes) {
      if (node.body.empty()) {
        step(node, iteration);
      } else {
        const uint64_t trips = node.trips.at(iteration, random_) % 14;
        for (uint64_t i = 0; i < trips; ++i) run(node.body, i);
      }
    }
  }

  void close() {
    check(clFinish(queue_), "clFinish");
    for (size_t i = 0; i < Slots; ++i) drop(i);
    if (event_ != nullptr) check(clReleaseEvent(event_), "clReleaseEvent");
    check(clReleaseKernel(add_), "clReleaseKernel");
    check(clReleaseKernel(scale_), "clReleaseKernel");
    check(clReleaseCommandQueue(queue_), "clReleaseCommandQueue");
  }

 private:
  void step(const Node& node, uint64_t iteration) {
    const size_t slot = node.slot.at(iteration, random_) % Slots;
    const size_t amount = node.amount.at(iteration, random_) % Floats;
    act(node.action, slot, amount);
  }

  void act(uint64_t action, size_t slot, size_t amount) {
    const size_t offset = amount * sizeof(float), size = FullSize - offset;
    const size_t other = (slot + 1) % Slots;
    switch (action) {
      case 0: return drop(slot);
      case 1: return void(buffer(slot));
      case 2: return resize(slot, amount);
      case 3: return void(clEnqueueWriteBuffer(queue_, buffer(slot), CL_TRUE, offset, size, memory(slot), 0, nullptr,
                                               nullptr));
      case 4: return void(clEnqueueReadBuffer(queue_, buffer(slot), CL_TRUE, 0, size, memory(slot) + amount, 0,
                                              nullptr, nullptr));
      case 5: return write_by_event(slot, size);
      case 6: return void(clEnqueueCopyBuffer(queue_, buffer(slot), buffer(other), 0, offset, size, 0, nullptr,
                                              nullptr));
      case 7: return fill(slot, static_cast<float>(amount));
      case 8: return launch_scale(slot, static_cast<float>(amount % 7));
      case 9: return launch_add(slot, other, static_cast<cl_uint>(amount));
      case 10: return map(slot, size);
      case 11: return void(clFinish(queue_));
      case 12: return void(clEnqueueReadBuffer(queue_, buffer(slot), CL_TRUE, FullSize, size, memory(slot), 0, nullptr,
                                               nullptr));  // beyond the end: must fail
      case 13: return objects_of_cpp(amount);
      case 14: return retain(slot);
      default: return void(clFlush(queue_));
    }
  }

  cl_mem buffer(size_t slot) {
    if (buffers_[slot] == nullptr) buffers_[slot] = gt::apps::make_buffer(device_, CL_MEM_READ_WRITE, FullSize);
    return buffers_[slot];
  }
  float* memory(size_t slot) {
    if (memory_[slot] == nullptr) memory_[slot] = static_cast<float*>(calloc(2 * Floats, sizeof(float)));
    return memory_[slot];
  }
  void resize(size_t slot, size_t more) {
    memory_[slot] = static_cast<float*>(realloc(memory_[slot], 2 * FullSize + more * 64));
  }
  void drop(size_t slot) {
    if (buffers_[slot] != nullptr) check(clReleaseMemObject(buffers_[slot]), "clReleaseMemObject");
    if (memory_[slot] != nullptr) free(memory_[slot]);
    buffers_[slot] = nullptr;
    memory_[slot] = nullptr;
  }
  void write_by_event(size_t slot, size_t size) {
    if (event_ != nullptr) check(clReleaseEvent(event_), "clReleaseEvent");
    event_ = nullptr;
    check(clEnqueueWriteBuffer(queue_, buffer(slot), CL_FALSE, 0, size, memory(slot), 0, nullptr, &event_), "write");
    check(clWaitForEvents(1, &event_), "clWaitForEvents");
  }
  void fill(size_t slot, float value) {
    clEnqueueFillBuffer(queue_, buffer(slot), &value, sizeof value, 0, FullSize, 0, nullptr, nullptr);
  }
  void launch_scale(size_t slot, float factor) {
    cl_mem b = buffer(slot);
    clSetKernelArg(scale_, 0, sizeof b, &b);
    clSetKernelArg(scale_, 1, sizeof factor, &factor);
    clEnqueueNDRangeKernel(queue_, scale_, 1, nullptr, &Floats, nullptr, 0, nullptr, nullptr);
  }
  void launch_add(size_t from, size_t to, cl_uint n) {
    cl_mem a = buffer(from), b = buffer(to);
    const size_t group = 16;
    clSetKernelArg(add_, 0, sizeof a, &a);
    clSetKernelArg(add_, 1, sizeof b, &b);
    clSetKernelArg(add_, 2, sizeof n, &n);
    clSetKernelArg(add_, 3, group * sizeof(float), nullptr);
    const cl_uint waited = event_ != nullptr ? 1 : 0;
    clEnqueueNDRangeKernel(queue_, add_, 1, nullptr, &Floats, &group, waited, waited != 0 ? &event_ : nullptr, nullptr);
  }
  void map(size_t slot, size_t size) {
    cl_int error = CL_SUCCESS;
    void* p = clEnqueueMapBuffer(queue_, buffer(slot), CL_TRUE, CL_MAP_READ, 0, size, 0, nullptr, nullptr, &error);
    if (error == CL_SUCCESS) clEnqueueUnmapMemObject(queue_, buffers_[slot], p, 0, nullptr, nullptr);
  }
  void objects_of_cpp(size_t amount) {
    auto one = std::make_unique<int>(1);
    auto many = std::make_unique<char[]>(amount + 1);
    kept_ = kept_ + *one + many[amount];
  }
  void retain(size_t slot) {
    clRetainMemObject(buffer(slot));
    clReleaseMemObject(buffers_[slot]);
  }

  gt::apps::Device device_;
  Random random_;
  cl_command_queue queue_;
  cl_kernel scale_, add_;
  cl_mem buffers_[Slots] = {};
  float* memory_[Slots] = {};
  cl_event event_ = nullptr;
  volatile int kept_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  int64_t seed = 1, nodes = 30, threads = 1;
  const gt::apps::Option options[] = {{"--seed", "which program", &seed},
                                      {"--nodes", "steps and loops at its top", &nodes},
                                      {"--threads", "threads", &threads}};
  gt::apps::parse(argc, argv, "Calls OpenCL at random.", options);
  gt::apps::Device device = gt::apps::open_device();
  cl_program program = gt::apps::build(device, Source);
  std::vector<Machine> machines;
  std::vector<std::vector<Node>> programs;
  for (int64_t t = 0; t < threads; ++t) {
    Random random(static_cast<uint64_t>(seed * 1000 + t));
    programs.emplace_back();
    for (int64_t i = 0; i < nodes; ++i) programs.back().push_back(make_node(random, 3));
    machines.emplace_back(device, program, static_cast<uint64_t>(seed + t));
  }
  std::vector<std::thread> running;
  for (size_t t = 1; t < machines.size(); ++t) running.emplace_back([&, t] { machines[t].run(programs[t], 0); });
  if (!machines.empty()) machines[0].run(programs[0], 0);
  for (std::thread& t : running) t.join();
  for (Machine& m : machines) m.close();
  check(clReleaseProgram(program), "clReleaseProgram");
  gt::apps::close_device(device);
  std::puts("random program: done");
  return 0;
}
