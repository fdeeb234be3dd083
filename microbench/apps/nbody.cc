// All-pairs n-body: much arithmetic for each byte that moves. Positions alternate between two
// buffers; the host reads them after every step.
//
// Checked in two ways: one more step is computed on the host for some bodies, and total momentum
// must be conserved.
#include <algorithm>
#include <cmath>
#include <utility>

#include "microbench/apps/session.h"

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

struct Settings : Common {
  int64_t bodies = 1024;
};
struct Body {
  float x, y, z, w;  // w: mass of a position, unused in a velocity
};

[[gnu::noinline]] Body* allocate_positions(size_t n) { return checked<Body>(malloc(n * sizeof(Body)), n); }
[[gnu::noinline]] Body* allocate_velocities(size_t n) { return checked<Body>(calloc(n, sizeof(Body)), n); }

void fill(Body* positions, size_t n) {
  Random random(12345);
  for (size_t i = 0; i < n; ++i) {
    const float x = random.unit() - 0.5f, y = random.unit() - 0.5f;
    positions[i] = {x, y, random.unit() - 0.5f, 1.0f / static_cast<float>(n)};
  }
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
  Simulation(Session& session, size_t n)
      : session_(session), n_(n), bytes_(n * sizeof(Body)), kernel_(session.kernel("nbody")) {
    from_ = session.buffer(CL_MEM_READ_WRITE, bytes_);
    to_ = session.buffer(CL_MEM_READ_WRITE, bytes_);
    velocity_ = session.buffer(CL_MEM_READ_WRITE, bytes_);
  }
  void start(const Body* positions, const Body* velocities) {
    session_.write(from_, positions, bytes_);
    session_.write(velocity_, velocities, bytes_);
  }
  void step(Body* positions) {
    set_args(kernel_, from_, to_, velocity_, static_cast<cl_uint>(n_), Dt, Softening);
    session_.launch(kernel_, {n_});
    session_.read(to_, positions, bytes_);
    std::swap(from_, to_);
  }
  void velocities(Body* out) { session_.read(velocity_, out, bytes_); }

 private:
  Session& session_;
  size_t n_, bytes_;
  cl_kernel kernel_;
  cl_mem from_ = nullptr, to_ = nullptr, velocity_ = nullptr;
};

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.bodies);
  Session session(Source, s.hand_pinned);
  Simulation simulation(session, n);
  Body* positions = session.memory(n, allocate_positions);
  Body* velocities = session.memory(n, allocate_velocities);
  fill(positions, n);
  std::fill(velocities, velocities + n, Body{0, 0, 0, 0});

  const double start = now_s();
  simulation.start(positions, velocities);
  for (int64_t i = 0; i < s.iterations; ++i) simulation.step(positions);
  const double seconds = now_s() - start;

  // One step more, to be compared with the host's.
  std::vector<Body> next(n), next_velocities(n);
  simulation.velocities(velocities);
  simulation.step(next.data());
  simulation.velocities(next_velocities.data());
  const bool correct = step_is_right(positions, velocities, next_velocities.data(), n) &&
                       momentum_is_conserved(velocities, n);
  const uint64_t sum = checksum({&positions->x, 4 * n});
  for (Body* p : {positions, velocities}) session.give_back(p, free_memory);
  return finish("nbody", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  gt::apps::Option steps = s.iterations_option(10, 20, "steps of time");
  steps.name = "--steps";
  const gt::apps::Option options[] = {
      {.name = "--bodies", .help = "bodies", .number = &s.bodies, .small = 4096, .large = 1 << 17, .least = 2,
       .most = 1 << 24},
      steps, {.name = "--iterations", .help = "the same as --steps", .number = &s.iterations, .least = 1},
      s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Moves bodies by their gravity on an OpenCL device and checks a step.", options);
  return gt::apps::run(s);
}
