// All-pairs n-body on several devices, as VOCL's: each moves its share of the bodies and needs the places of all, which
// go by the host after every step.
//
// Checked as nbody.cc.
#include <cstdio>
#include <utility>
#include <vector>

#include "microbench/apps/device_group.h"
#include "microbench/apps/nbody_model.h"

namespace gt::apps {
namespace {

constexpr double OperationsPerPair = 20;  // as the literature counts them

struct Settings {
  int64_t bodies = 1024, steps = 10, devices = 1;
};

// What a device does: its share of the bodies, one step at a time.
class Part {
 public:
  Part(DeviceGroup& group, size_t device, size_t n)
      : queue_(group.queue(device)), kernel_(group.kernel("nbody")), share_(group.share(n, device)), n_(n) {
    for (cl_mem* buffer : {&from_, &to_, &velocity_}) *buffer = group.buffer(CL_MEM_READ_WRITE, n * sizeof(Body));
  }
  void send_velocities(const std::vector<Body>& all) {
    enqueue_write(queue_, velocity_, all.data(), n_ * sizeof(Body));
  }
  void step(const std::vector<Body>& before, std::vector<Body>& after) {
    enqueue_write(queue_, from_, before.data(), n_ * sizeof(Body));
    set_args(kernel_, from_, to_, velocity_, static_cast<cl_uint>(n_), Dt, Softening);
    const size_t bodies = share_.count();
    if (bodies == 0) return;
    check(clEnqueueNDRangeKernel(queue_, kernel_, 1, &share_.begin, &bodies, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    receive(to_, after);
  }
  void velocities(std::vector<Body>& all) { receive(velocity_, all); }

 private:
  void receive(cl_mem from, std::vector<Body>& to) {
    if (share_.count() == 0) return;
    check(clEnqueueReadBuffer(queue_, from, CL_FALSE, share_.begin * sizeof(Body), share_.count() * sizeof(Body),
                              &to[share_.begin], 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

  cl_command_queue queue_;
  cl_kernel kernel_;
  Share share_;
  size_t n_;
  cl_mem from_ = nullptr, to_ = nullptr, velocity_ = nullptr;
};

class Simulation {
 public:
  Simulation(DeviceGroup& group, size_t n) : group_(group), n_(n), positions_(n), next_(n) {
    fill_positions(positions_.data(), n);
    const std::vector<Body> at_rest(n, Body{0, 0, 0, 0});
    for (size_t d = 0; d < group.size(); ++d) parts_.emplace_back(group, d, n);
    for (Part& part : parts_) part.send_velocities(at_rest);
    group.finish();
  }
  void step() {
    for (Part& part : parts_) part.step(positions_, next_);
    group_.flush();
    group_.finish();
    std::swap(positions_, next_);
  }
  const std::vector<Body>& positions() const { return positions_; }
  std::vector<Body> velocities() {
    std::vector<Body> all(n_);
    for (Part& part : parts_) part.velocities(all);
    group_.finish();
    return all;
  }

 private:
  DeviceGroup& group_;
  size_t n_;
  std::vector<Body> positions_, next_;
  std::vector<Part> parts_;
};

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.bodies);
  DeviceGroup group(NbodySource, s.devices);
  Simulation simulation(group, n);

  const double start = now_s();
  for (int64_t i = 0; i < s.steps; ++i) simulation.step();
  const double seconds = now_s() - start;

  const double pairs = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(s.steps);
  std::fprintf(stderr, "gflops=%.1f\n", 1e-9 * OperationsPerPair * pairs / seconds);

  // One step more, to be compared with the host's.
  const std::vector<Body> before = simulation.positions(), old_velocities = simulation.velocities();
  simulation.step();
  const std::vector<Body> velocities = simulation.velocities();
  const bool correct = step_is_right(before.data(), old_velocities.data(), velocities.data(), n) &&
                       momentum_is_conserved(velocities.data(), n);
  return finish("nbody", correct, checksum({&before[0].x, 4 * n}), seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      gt::apps::bodies_option(s.bodies),
      {.name = "--steps", .help = "steps of time", .number = &s.steps, .small = 10, .large = 20, .least = 1},
      gt::apps::devices_option(s.devices)};
  gt::apps::parse(argc, argv, "Moves bodies by their gravity on OpenCL devices and checks a step.", options);
  return gt::apps::run(s);
}
