// Particles carried by a flow in three dimensions that changes with time (an ABC flow), by the Runge-Kutta method of
// fourth order. Each device has its share of them and nothing passes between devices: much arithmetic for each byte.
//
// Checked: some particles' flights are computed on the host in double precision, and every particle must have one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "microbench/apps/device_group.h"

namespace gt::apps {
namespace {

constexpr double Duration = 4;  // of the flight; short enough that single precision keeps to the way
constexpr size_t Group = 256;   // particles of a work-group; shares are whole groups
constexpr double OperationsPerStep = 126;  // of a particle, a sine counted as one
constexpr const char* Source = R"(
float3 velocity(float3 p, float t) {
  const float a = 1.7320508f + 0.5f * sin(t), b = 1.4142135f, c = 1.0f;
  const float3 s = sin(p), k = cos(p);
  return (float3)(a * s.z + c * k.y, b * s.x + a * k.z, c * s.y + b * k.x);
}
kernel void fly(global float4* particles, uint first, uint steps, float dt) {
  const size_t i = get_global_id(0);
  const float share = particles[i].w;
  float3 p = particles[i].xyz;
  for (uint n = first; n < first + steps; ++n) {
    const float t = n * dt, half_dt = 0.5f * dt;
    const float3 k1 = share * velocity(p, t);
    const float3 k2 = share * velocity(p + half_dt * k1, t + half_dt);
    const float3 k3 = share * velocity(p + half_dt * k2, t + half_dt);
    const float3 k4 = share * velocity(p + dt * k3, t + dt);
    p += dt / 6.0f * (k1 + 2.0f * (k2 + k3) + k4);
  }
  particles[i] = (float4)(p, share);
}
)";

struct Settings {
  int64_t particles = 16384, steps = 64, steps_per_launch = 8, devices = 1;
};
struct Particle {
  float x, y, z, share;  // of the flow's velocity that it takes on
};
struct Vector {
  double x, y, z;
};

Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vector operator*(double a, Vector b) { return {a * b.x, a * b.y, a * b.z}; }

std::vector<Particle> make_particles(size_t n) {
  Random random(77);
  const auto place = [&random] { return 6.2831853f * random.unit(); };
  std::vector<Particle> particles(n);
  for (Particle& p : particles) {
    p.x = place();
    p.y = place();
    p.z = place();
    p.share = 0.5f + 0.5f * random.unit();
  }
  return particles;
}

// What a device does: its share of the particles, brought forward launch by launch.
class Flight {
 public:
  Flight(DeviceGroup& group, size_t device, std::vector<Particle>& particles)
      : queue_(group.queue(device)), kernel_(group.kernel("fly")) {
    const Share groups = group.share(particles.size() / Group, device);
    particles_ = std::span(particles).subspan(groups.begin * Group, groups.count() * Group);
    buffer_ = group.buffer(CL_MEM_READ_WRITE, particles_.size_bytes());
  }
  void send() { enqueue_write(queue_, buffer_, particles_.data(), particles_.size_bytes()); }
  void receive() { enqueue_read(queue_, buffer_, particles_.data(), particles_.size_bytes()); }
  Event fly(int64_t first, int64_t steps, float dt) {
    Event end;
    set_args(kernel_, buffer_, static_cast<cl_uint>(first), static_cast<cl_uint>(steps), dt);
    const size_t global = particles_.size();
    check(clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &global, &Group, 0, nullptr, end.out()),
          "clEnqueueNDRangeKernel");
    return end;
  }

 private:
  cl_command_queue queue_;
  cl_kernel kernel_;
  cl_mem buffer_ = nullptr;
  std::span<Particle> particles_;
};

void fly_all(DeviceGroup& group, std::vector<Flight>& flights, const Settings& s) {
  const float dt = static_cast<float>(Duration / static_cast<double>(s.steps));
  Pace pace;
  for (int64_t first = 0; first < s.steps; first += s.steps_per_launch) {
    const int64_t steps = std::min(s.steps_per_launch, s.steps - first);
    std::vector<Event> ends;
    for (Flight& flight : flights) ends.push_back(flight.fly(first, steps, dt));
    group.flush();
    pace.step(std::move(ends));
  }
  group.finish();
}

Vector velocity(Vector p, double t) {
  const double a = std::sqrt(3.0) + 0.5 * std::sin(t), b = std::sqrt(2.0), c = 1;
  return {a * std::sin(p.z) + c * std::cos(p.y), b * std::sin(p.x) + a * std::cos(p.z),
          c * std::sin(p.y) + b * std::cos(p.x)};
}

Vector fly_on_host(const Particle& particle, int64_t steps) {
  const double dt = Duration / static_cast<double>(steps), share = double{particle.share};
  Vector p{particle.x, particle.y, particle.z};
  for (int64_t n = 0; n < steps; ++n) {
    const double t = static_cast<double>(n) * dt;
    const Vector k1 = share * velocity(p, t);
    const Vector k2 = share * velocity(p + dt / 2 * k1, t + dt / 2);
    const Vector k3 = share * velocity(p + dt / 2 * k2, t + dt / 2);
    const Vector k4 = share * velocity(p + dt * k3, t + dt);
    p = p + dt / 6 * (k1 + 2 * (k2 + k3) + k4);
  }
  return p;
}

bool near(float a, double b) { return std::fabs(double{a} - b) <= 2e-3; }

bool verify(const std::vector<Particle>& before, const std::vector<Particle>& after, int64_t steps) {
  const size_t stride = std::max<size_t>(1, before.size() / 257);  // all places in work-groups have their turn
  for (size_t i = 0; i < before.size(); i += stride) {
    const Vector p = fly_on_host(before[i], steps);
    if (!near(after[i].x, p.x) || !near(after[i].y, p.y) || !near(after[i].z, p.z)) return false;
  }
  // No speed exceeds 6; and the device hands every share back.
  const auto possible = [](const Particle& a, const Particle& b) {
    const float way = std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
    return a.share == b.share && way <= 6 * static_cast<float>(Duration);
  };
  return std::equal(before.begin(), before.end(), after.begin(), possible);
}

int run(const Settings& s) {
  DeviceGroup group(Source, s.devices);
  const std::vector<Particle> before = make_particles(static_cast<size_t>(s.particles));
  std::vector<Particle> particles = before;
  std::vector<Flight> flights;
  for (size_t d = 0; d < group.size(); ++d) flights.emplace_back(group, d, particles);
  for (Flight& flight : flights) {
    flight.send();
    flight.fly(0, 0, 0);  // some drivers compile when a kernel is first launched
  }
  group.finish();

  const double start = now_s();
  fly_all(group, flights, s);
  const double seconds = now_s() - start;

  for (Flight& flight : flights) flight.receive();
  group.finish();
  const double operations = OperationsPerStep * static_cast<double>(s.particles) * static_cast<double>(s.steps);
  std::fprintf(stderr, "gflops=%.1f\n", 1e-9 * operations / seconds);
  const bool correct = verify(before, particles, s.steps);
  return finish("particles", correct, checksum({&particles[0].x, 4 * particles.size()}), seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--particles", .help = "particles, a multiple of 256", .number = &s.particles, .small = 1 << 18,
       .large = 1 << 24, .least = 256 * 64, .most = 1 << 30, .multiple = 256},
      {.name = "--steps", .help = "steps of time that the flight is cut into", .number = &s.steps, .small = 256,
       .large = 4096, .least = 1, .most = 1 << 16},
      {.name = "--steps-per-launch", .help = "steps that a launch makes", .number = &s.steps_per_launch, .small = 16,
       .large = 16, .least = 1, .most = 1 << 20},
      gt::apps::devices_option(s.devices)};
  gt::apps::parse(argc, argv, "Carries particles along a flow on OpenCL devices and checks some of them.", options);
  return gt::apps::run(s);
}
