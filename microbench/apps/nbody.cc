// All-pairs n-body: much arithmetic for each byte that moves. Positions alternate between two
// buffers; the host reads them after every step.
//
// Checked in two ways: one more step is computed on the host for some bodies, and total momentum
// must be conserved.
#include <algorithm>
#include <utility>

#include "microbench/apps/nbody_model.h"
#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

struct Settings : Common {
  int64_t bodies = 1024;
};

[[gnu::noinline]] Body* allocate_positions(size_t n) { return checked<Body>(malloc(n * sizeof(Body)), n); }
[[gnu::noinline]] Body* allocate_velocities(size_t n) { return checked<Body>(calloc(n, sizeof(Body)), n); }

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
  Session session(NbodySource, s.hand_pinned);
  Simulation simulation(session, n);
  Body* positions = session.memory(n, allocate_positions);
  Body* velocities = session.memory(n, allocate_velocities);
  fill_positions(positions, n);
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
  const bool correct =
      step_is_right(positions, velocities, next_velocities.data(), n) && momentum_is_conserved(velocities, n);
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
      gt::apps::bodies_option(s.bodies),
      steps,
      {.name = "--iterations", .help = "the same as --steps", .number = &s.iterations, .least = 1},
      s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Moves bodies by their gravity on an OpenCL device and checks a step.", options);
  return gt::apps::run(s);
}
