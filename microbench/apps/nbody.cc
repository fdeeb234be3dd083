// All-pairs n-body: much arithmetic for each byte that moves. Positions alternate between two
// buffers; the host reads them after every step.
//
// Checked in two ways: one more step is computed on the host for some bodies, and total momentum
// must be conserved.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "microbench/apps/harness.h"

namespace gt::apps {
namespace {

constexpr float Dt = 0.001f, Softening = 0.01f;
constexpr const char* Source = R"(
kernel void nbody(global const float4* from, global float4* to, global float4* velocity, uint n, float dt, float eps) {
  const uint i = get_global_id(0);
  const float4 p = from[i];
  float3 pull = (float3)(0.0f, 0.0f, 0.0f);
  for (uint j = 0; j < n; ++j) {
    const float4 q = from[j];
    const float3 d = q.xyz - p.xyz;
    const float inverse = 1.0f / sqrt(dot(d, d) + eps);
    pull += d * (q.w * inverse * inverse * inverse);
  }
  float4 v = velocity[i];
  v.xyz += pull * dt;
  velocity[i] = v;
  to[i] = (float4)(p.xyz + v.xyz * dt, p.w);
}
)";

struct Settings {
  int64_t bodies = 1024, steps = 10;
};
struct Body {
  float x, y, z, w;  // w: mass of a position, unused in a velocity
};

[[gnu::noinline]] Body* allocate_positions(size_t n) {
  auto* p = static_cast<Body*>(check_memory(malloc(n * sizeof(Body)), n * sizeof(Body)));
  uint32_t state = 12345;
  auto next = [&state] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  };
  for (size_t i = 0; i < n; ++i) p[i] = {next(), next(), next(), 1.0f / static_cast<float>(n)};
  return p;
}
[[gnu::noinline]] Body* allocate_velocities(size_t n) {
  auto* p = static_cast<Body*>(check_memory(malloc(n * sizeof(Body)), n * sizeof(Body)));
  std::fill(p, p + n, Body{0, 0, 0, 0});
  return p;
}
[[gnu::noinline]] Body* allocate_copy(size_t n) {
  return static_cast<Body*>(check_memory(malloc(n * sizeof(Body)), n * sizeof(Body)));
}

Body host_velocity(const Body* p, Body v, size_t i, size_t n) {
  double pull[3] = {0, 0, 0};
  for (size_t j = 0; j < n; ++j) {
    const double dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z;
    const double inverse = 1.0 / std::sqrt(dx * dx + dy * dy + dz * dz + double{Softening});
    const double scale = double{p[j].w} * inverse * inverse * inverse;
    pull[0] += dx * scale;
    pull[1] += dy * scale;
    pull[2] += dz * scale;
  }
  return {v.x + static_cast<float>(pull[0]) * Dt, v.y + static_cast<float>(pull[1]) * Dt,
          v.z + static_cast<float>(pull[2]) * Dt, 0};
}

bool near(float a, float b) { return std::fabs(a - b) <= 1e-4f * (1e-2f + std::fabs(b)); }

bool step_is_right(const Body* before, const Body* old_velocity, const Body* velocity, size_t n) {
  const size_t stride = std::max<size_t>(1, n / 64);
  for (size_t i = 0; i < n; i += stride) {
    const Body v = host_velocity(before, old_velocity[i], i, n);
    if (!near(velocity[i].x, v.x) || !near(velocity[i].y, v.y) || !near(velocity[i].z, v.z))
      return false;
  }
  return true;
}

// The bodies start at rest and have equal masses, so their velocities must sum to nearly nothing.
bool momentum_is_conserved(const Body* velocity, size_t n) {
  double sum = 0, size = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += double{velocity[i].x} + double{velocity[i].y} + double{velocity[i].z};
    size += std::fabs(velocity[i].x) + std::fabs(velocity[i].y) + std::fabs(velocity[i].z);
  }
  return std::isfinite(size) && size > 0 && std::fabs(sum) <= 1e-3 * size;
}

class Simulation {
 public:
  Simulation(const Device& device, cl_program program, size_t n)
      : n_(n),
        bytes_(n * sizeof(Body)),
        queue_(make_queue(device)),
        kernel_(make_kernel(program, "nbody")) {
    from_ = make_buffer(device, CL_MEM_READ_WRITE, bytes_);
    to_ = make_buffer(device, CL_MEM_READ_WRITE, bytes_);
    velocity_ = make_buffer(device, CL_MEM_READ_WRITE, bytes_);
  }
  void close() {
    for (cl_mem buffer : {from_, to_, velocity_}) release(buffer);
    check(clReleaseKernel(kernel_), "clReleaseKernel");
    check(clReleaseCommandQueue(queue_), "clReleaseCommandQueue");
  }
  void start(const Body* positions, const Body* velocities) {
    write(from_, positions);
    write(velocity_, velocities);
  }
  void step(Body* positions) {
    const cl_uint count = static_cast<cl_uint>(n_);
    set_arg(kernel_, 0, sizeof from_, &from_);
    set_arg(kernel_, 1, sizeof to_, &to_);
    set_arg(kernel_, 2, sizeof velocity_, &velocity_);
    set_arg(kernel_, 3, sizeof count, &count);
    set_arg(kernel_, 4, sizeof Dt, &Dt);
    set_arg(kernel_, 5, sizeof Softening, &Softening);
    check(clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &n_, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    read(to_, positions);
    std::swap(from_, to_);
  }
  void velocities(Body* out) { read(velocity_, out); }

 private:
  void write(cl_mem buffer, const Body* from) {
    check(clEnqueueWriteBuffer(queue_, buffer, CL_TRUE, 0, bytes_, from, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  void read(cl_mem buffer, Body* to) {
    check(clEnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, bytes_, to, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

  size_t n_, bytes_;
  cl_command_queue queue_;
  cl_kernel kernel_;
  cl_mem from_ = nullptr, to_ = nullptr, velocity_ = nullptr;
};

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.bodies);
  Device device = open_device();
  cl_program program = build(device, Source);
  Simulation simulation(device, program, n);
  Body* positions = allocate_positions(n);
  Body* velocities = allocate_velocities(n);

  const double start = now_s();
  simulation.start(positions, velocities);
  for (int64_t i = 0; i < s.steps; ++i) simulation.step(positions);
  const double seconds = now_s() - start;

  Body* next = allocate_copy(n);
  Body* next_velocities = allocate_copy(n);
  simulation.velocities(velocities);
  simulation.step(next);
  simulation.velocities(next_velocities);
  const bool correct = step_is_right(positions, velocities, next_velocities, n) &&
                       momentum_is_conserved(velocities, n);
  const uint64_t sum = checksum({&positions->x, 4 * n});
  for (Body* p : {positions, velocities, next, next_velocities}) free(p);
  simulation.close();
  check(clReleaseProgram(program), "clReleaseProgram");
  close_device(device);
  return finish("nbody", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {{"--bodies", "bodies", &s.bodies},
                                      {"--steps", "time steps", &s.steps}};
  gt::apps::parse(argc, argv,
                  "Moves bodies under gravity on an OpenCL device and checks the result.", options);
  if (s.bodies < 2 || s.bodies > (1 << 24) || s.steps == 0) {
    std::fprintf(stderr, "%s: --bodies must be 2 to 2^24, --steps positive\n", argv[0]);
    return 2;
  }
  return gt::apps::run(s);
}
