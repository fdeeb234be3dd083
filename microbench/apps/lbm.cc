// Lattice Boltzmann in two dimensions (nine velocities): a gas in a closed periodic box. The density is sent once and
// received once; everything between stays on the device, so transfers hardly matter.
//
// Checked in three ways: mass must be conserved, some rows' densities must be the sums of what is on the device, and
// one more step of a row is computed on the host.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr size_t Velocities = 9;
constexpr int Dx[Velocities] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, Dy[Velocities] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr double Weight[Velocities] = {4.0 / 9,  1.0 / 9,  1.0 / 9,  1.0 / 9, 1.0 / 9,
                                       1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
constexpr double Relax = 1.2;
constexpr const char* Source = R"(
constant int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constant float weight[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                            1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

// f[k][y][x]: how much gas moves with velocity k.
kernel void fill(global const float* density, global float* f, uint n) {
  const size_t i = (size_t)get_global_id(1) * n + get_global_id(0), cells = (size_t)n * n;
  for (int k = 0; k < 9; ++k) f[k * cells + i] = weight[k] * density[i];
}
// What arrives from the neighbours, then relaxes towards its equilibrium.
kernel void collide(global const float* from, global float* to, uint n) {
  const int x = get_global_id(0), y = get_global_id(1);
  const size_t cells = (size_t)n * n, i = (size_t)y * n + x;
  float f[9], density = 0, u = 0, v = 0;
  for (int k = 0; k < 9; ++k) {
    const size_t sx = (x - dx[k] + n) % n, sy = (y - dy[k] + n) % n;
    f[k] = from[k * cells + sy * n + sx];
    density += f[k];
    u += f[k] * dx[k];
    v += f[k] * dy[k];
  }
  u /= density;
  v /= density;
  for (int k = 0; k < 9; ++k) {
    const float along = 3.0f * (dx[k] * u + dy[k] * v);
    const float rest = weight[k] * density * (1.0f + along + 0.5f * along * along - 1.5f * (u * u + v * v));
    to[k * cells + i] = f[k] + 1.2f * (rest - f[k]);
  }
}
kernel void sum(global const float* f, global float* density, uint n) {
  const size_t i = (size_t)get_global_id(1) * n + get_global_id(0), cells = (size_t)n * n;
  float total = 0;
  for (int k = 0; k < 9; ++k) total += f[k * cells + i];
  density[i] = total;
}
)";

struct Settings : Common {
  Settings() { iterations = 100; }
  int64_t size = 128;
};

[[gnu::noinline]] float* allocate_density(size_t n) { return checked<float>(malloc(n * sizeof(float)), n); }

class Gas {
 public:
  Gas(Session& session, size_t n)
      : session_(session),
        n_(n),
        fill_(session.kernel("fill")),
        collide_(session.kernel("collide")),
        sum_(session.kernel("sum")) {
    density_ = session.buffer(CL_MEM_READ_WRITE, n * n * sizeof(float));
    for (cl_mem& f : f_) f = session.buffer(CL_MEM_READ_WRITE, Velocities * n * n * sizeof(float));
  }
  void start(const float* density) {
    session_.write(density_, density, n_ * n_ * sizeof(float));
    set_args(fill_, density_, f_[0], static_cast<cl_uint>(n_));
    session_.launch(fill_, {n_, n_});
  }
  void step() {
    set_args(collide_, f_[0], f_[1], static_cast<cl_uint>(n_));
    session_.launch(collide_, {n_, n_});
    std::swap(f_[0], f_[1]);
  }
  void density(float* out) {
    set_args(sum_, f_[0], density_, static_cast<cl_uint>(n_));
    session_.launch(sum_, {n_, n_});
    session_.read(density_, out, n_ * n_ * sizeof(float));
  }
  // All velocities of row y (periodic), one after the other.
  std::vector<float> row(size_t y) {
    std::vector<float> out(Velocities * n_);
    for (size_t k = 0; k < Velocities; ++k)
      check(clEnqueueReadBuffer(session_.queue(), f_[0], CL_TRUE, (k * n_ + y % n_) * n_ * sizeof(float),
                                n_ * sizeof(float), out.data() + k * n_, 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
    return out;
  }

 private:
  Session& session_;
  size_t n_;
  cl_kernel fill_, collide_, sum_;
  cl_mem density_ = nullptr, f_[2] = {nullptr, nullptr};
};

// Cell x of the row whose three rows around it (below, itself, above) are given.
bool cell_is_right(const std::vector<float> (&around)[3], const std::vector<float>& after, size_t n, size_t x) {
  double f[Velocities], density = 0, u = 0, v = 0;
  for (size_t k = 0; k < Velocities; ++k) {
    const size_t sx = (x + n - static_cast<size_t>(Dx[k] + 1) + 1) % n;
    f[k] = double{around[1 - Dy[k]][k * n + sx]};
    density += f[k];
    u += f[k] * Dx[k];
    v += f[k] * Dy[k];
  }
  u /= density;
  v /= density;
  for (size_t k = 0; k < Velocities; ++k) {
    const double along = 3 * (Dx[k] * u + Dy[k] * v);
    const double rest = Weight[k] * density * (1 + along + along * along / 2 - 1.5 * (u * u + v * v));
    if (!(std::fabs(double{after[k * n + x]} - (f[k] + Relax * (rest - f[k]))) <= 1e-5 * density)) return false;
  }
  return true;
}

// Row y's densities are the sums of its velocities.
bool density_is_right(Gas& gas, size_t n, size_t y, const float* density) {
  const std::vector<float> f = gas.row(y);
  for (size_t x = 0; x < n; ++x) {
    double sum = 0;
    for (size_t k = 0; k < Velocities; ++k) sum += double{f[k * n + x]};
    if (!(std::fabs(double{density[y * n + x]} - sum) <= 1e-5 * sum)) return false;
  }
  return true;
}

// Row y after one step beyond the measured ones.
bool step_is_right(Gas& gas, size_t n, size_t y) {
  const std::vector<float> around[] = {gas.row(y + n - 1), gas.row(y), gas.row(y + 1)};
  gas.step();
  const std::vector<float> after = gas.row(y);
  for (size_t x = 0; x < n; ++x)
    if (!cell_is_right(around, after, n, x)) return false;
  return true;
}

double mass(const float* density, size_t cells) {
  double sum = 0;
  for (size_t i = 0; i < cells; ++i) sum += double{density[i]};
  return sum;
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.size), cells = n * n;
  Session session(Source, s.hand_pinned);
  Gas gas(session, n);
  float* density = session.memory(cells, allocate_density);
  Random random(81);
  for (size_t i = 0; i < cells; ++i) density[i] = 1 + 0.1f * random.unit() + (i % n < n / 4 ? 0.1f : 0.0f);
  const double before = mass(density, cells);

  const double start = now_s();
  gas.start(density);
  for (int64_t i = 0; i < s.iterations; ++i) gas.step();
  gas.density(density);
  const double seconds = now_s() - start;

  bool correct = std::fabs(mass(density, cells) - before) <= 1e-4 * before;
  for (size_t part = 0; part < 8; ++part) correct = correct && density_is_right(gas, n, part * (n - 1) / 7, density);
  correct = correct && step_is_right(gas, n, n / 3);
  const uint64_t sum = checksum({density, cells});
  session.give_back(density, free_memory);
  return finish("lbm", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--size", .help = "cells along each edge", .number = &s.size, .small = 256, .large = 4096, .least = 4,
       .most = 16384},
      s.iterations_option(300, 1000, "time steps"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Lattice Boltzmann on an OpenCL device; checks mass and a step.", options);
  return gt::apps::run(s);
}
