// Advection of a scalar in a periodic box by a wind whose direction turns once around while the program runs, so that
// what it carries comes back: semi-Lagrangian, by cubic Lagrange interpolation between 4x4x4 cells. The box is cut into
// slabs, one for each device, and after each step the devices give each other the planes at the slabs' borders.
//
// Only these planes travel. They have buffers of their own, since drivers move whole buffers from device to device: the
// launch that computes a slab's outer planes writes them twice, the copy to the neighbour's buffer runs on the
// neighbour's second queue, and the launch for the inner planes goes on meanwhile.
//
// Checked: the box holds a wave. Interpolation turns and damps it by factors that the host knows (double precision), so
// every cell's value is known after any number of steps; it must also be near the true solution, and what there is in
// all must stay.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <utility>
#include <vector>

#include "microbench/apps/device_group.h"

namespace gt::apps {
namespace {

constexpr size_t Reach = 2;                // cells that interpolation looks at in either direction
constexpr double Speed = 0.9;              // cells in a step: less than one, so that Reach is enough
constexpr double OperationsPerCell = 147;  // 21 interpolations of 7
constexpr size_t Group[] = {32, 8, 1};

constexpr const char* Source = R"(
// Explicit, so that all compilations of it round alike.
float weigh(float4 w, float a, float b, float c, float d) { return fma(w.x, a, fma(w.y, b, fma(w.z, c, w.w * d))); }

// first..first + 3, around the edges of the box.
uint4 four(uint i, int first, uint n) {
  const int4 at = (int4)(i) + first + (int4)(0, 1, 2, 3);
  return convert_uint4(at + select((int4)(0), (int4)(n), at < 0) - select((int4)(0), (int4)(n), at >= (int4)(n)));
}
float in_row(global const float* row, uint4 x, float4 w) { return weigh(w, row[x.x], row[x.y], row[x.z], row[x.w]); }
float in_plane(global const float* plane, uint n, uint4 x, uint4 y, float4 wx, float4 wy) {
  return weigh(wy, in_row(plane + (size_t)y.x * n, x, wx), in_row(plane + (size_t)y.y * n, x, wx),
               in_row(plane + (size_t)y.z * n, x, wx), in_row(plane + (size_t)y.w * n, x, wx));
}

// The slab's planes but the first two and the last two.
kernel void inner(global const float* from, global float* to, uint n, int4 first, float4 wx, float4 wy, float4 wz) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2) + 2;
  const size_t plane = (size_t)n * n;
  const uint4 xs = four(x, first.x, n), ys = four(y, first.y, n);
  global const float* p = from + (z + first.z) * plane;
  to[z * plane + y * n + x] = weigh(wz, in_plane(p, n, xs, ys, wx, wy), in_plane(p + plane, n, xs, ys, wx, wy),
                                    in_plane(p + 2 * plane, n, xs, ys, wx, wy),
                                    in_plane(p + 3 * plane, n, xs, ys, wx, wy));
}

// The other four, which need what came from the neighbours below and above, and go to them.
global const float* plane_at(global const float* slab, global const float* below, global const float* above, int z,
                             int planes, size_t plane) {
  return z < 0 ? below + (z + 2) * plane : z >= planes ? above + (z - planes) * plane : slab + z * plane;
}
kernel void outer(global const float* from, global const float* below, global const float* above, global float* to,
                  global float* to_below, global float* to_above, int planes, uint n, int4 first, float4 wx, float4 wy,
                  float4 wz) {
  const uint x = get_global_id(0), y = get_global_id(1), k = get_global_id(2);
  const int z = k < 2 ? k : planes - 4 + k, at = z + first.z;
  const size_t plane = (size_t)n * n, i = y * n + x;
  const uint4 xs = four(x, first.x, n), ys = four(y, first.y, n);
  const float value =
      weigh(wz, in_plane(plane_at(from, below, above, at, planes, plane), n, xs, ys, wx, wy),
            in_plane(plane_at(from, below, above, at + 1, planes, plane), n, xs, ys, wx, wy),
            in_plane(plane_at(from, below, above, at + 2, planes, plane), n, xs, ys, wx, wy),
            in_plane(plane_at(from, below, above, at + 3, planes, plane), n, xs, ys, wx, wy));
  to[z * plane + i] = value;
  if (k < 2)
    to_below[k * plane + i] = value;
  else
    to_above[(k - 2) * plane + i] = value;
}
)";

struct Settings {
  int64_t cells = 32, planes = 0, steps = 40, devices = 1;
};

// How a step interpolates along one axis: from the cells `first`..first + 3 away, with these weights.
struct Line {
  int first;
  double weight[4];

  explicit Line(double wind) {
    const double base = std::floor(-wind), f = -wind - base;
    first = static_cast<int>(base) - 1;
    weight[0] = -f * (f - 1) * (f - 2) / 6;
    weight[1] = (f + 1) * (f - 1) * (f - 2) / 2;
    weight[2] = -(f + 1) * f * (f - 2) / 2;
    weight[3] = (f + 1) * f * (f - 1) / 6;
  }
  cl_float4 weights() const {
    cl_float4 w;
    for (int i = 0; i < 4; ++i) w.s[i] = static_cast<float>(weight[i]);
    return w;
  }
};

// The wind of a step: how many cells it carries along each axis. Over two steps or more the sum is zero.
struct Wind {
  double along[3];

  Wind(int64_t step, int64_t steps) {
    const double angle = 2 * M_PI * (static_cast<double>(step) + 0.5) / static_cast<double>(steps);
    along[0] = Speed * std::cos(angle);
    along[1] = 0.6 * Speed * std::sin(angle);
    along[2] = 0.8 * Speed * std::sin(angle);
  }
};

// One axis' part of the wave that fills the box: cos(k x + phase) at first, then the real part of
// factor * e^i(k x + phase).
class Wave {
 public:
  Wave(size_t cells, int waves, double phase)
      : cells_(cells), k_(2 * M_PI * waves / static_cast<double>(cells)), phase_(phase) {}

  void interpolate(const Line& line) {
    std::complex<double> sum = 0;
    for (int i = 0; i < 4; ++i) sum += line.weight[i] * std::polar(1.0, k_ * (line.first + i));
    factor_ *= sum;
  }
  void carry(double cells) { factor_ *= std::polar(1.0, -k_ * cells); }  // the true solution
  // The most by which interpolate() and carry() can differ: that of the cubic through four cells.
  double error_of_step() const { return 9.0 / 16 / 24 * std::pow(k_, 4); }

  std::vector<double> values() const {
    std::vector<double> out(cells_);
    for (size_t x = 0; x < cells_; ++x)
      out[x] = (factor_ * std::polar(1.0, k_ * static_cast<double>(x) + phase_)).real();
    return out;
  }

 private:
  size_t cells_;
  double k_, phase_;
  std::complex<double> factor_ = 1;
};

// What the box holds: 1 and the product of the axes' waves.
class Box {
 public:
  Box(size_t cells, size_t planes) : waves_{{cells, 1, 0.3}, {cells, 2, 0.7}, {planes, 1, 1.1}} {}
  Wave& operator[](size_t axis) { return waves_[axis]; }

  // visit(index of the cell, its value)
  template <class Visit>
  void each_cell(Visit visit) const {
    const std::vector<double> xs = waves_[0].values(), ys = waves_[1].values(), zs = waves_[2].values();
    size_t i = 0;
    for (double vz : zs)
      for (double vy : ys)
        for (double vx : xs) visit(i++, 1 + vx * vy * vz);
  }

 private:
  Wave waves_[3];
};

// A device's planes of the box, in two generations: a step reads one and writes the other.
class Slab {
 public:
  Slab(DeviceGroup& group, size_t device, size_t side, size_t planes)
      : share_(group.share(planes, device)),
        side_(side),
        planes_of_box_(planes),
        launches_(group.queue(device)),
        copies_(group.queue(device)),
        inner_(group.kernel("inner")),
        outer_(group.kernel("outer")) {
    for (Generation& g : generations_) {
      g.field = group.buffer(CL_MEM_READ_WRITE, bytes(share_.count()));
      for (cl_mem* border : {&g.below, &g.above, &g.to_below, &g.to_above})
        *border = group.buffer(CL_MEM_READ_WRITE, bytes(Reach));
    }
  }

  void send(const float* box) {
    const size_t below = (share_.begin + planes_of_box_ - Reach) % planes_of_box_, above = share_.end % planes_of_box_;
    enqueue_write(launches_, now().field, box + cells(share_.begin), bytes(share_.count()));
    enqueue_write(launches_, now().below, box + cells(below), bytes(Reach));
    enqueue_write(launches_, now().above, box + cells(above), bytes(Reach));
  }
  void receive(float* box) {
    enqueue_read(launches_, now().field, box + cells(share_.begin), bytes(share_.count()));
  }

  // A step's launches; what they write is the new generation, which become() makes that of now.
  void launch(const Line& x, const Line& y, const Line& z) {
    const auto planes = static_cast<cl_int>(share_.count());
    const auto n = static_cast<cl_uint>(side_);
    const cl_int4 first = {{x.first, y.first, z.first, 0}};
    set_args(outer_, now().field, now().below, now().above, next().field, next().to_below, next().to_above, planes, n,
             first, x.weights(), y.weights(), z.weights());
    launch(outer_, 2 * Reach, WaitList{&from_below_, &from_above_}, outer_done_.out());
    if (share_.count() == 2 * Reach) return;
    set_args(inner_, now().field, next().field, n, first, x.weights(), y.weights(), z.weights());
    launch(inner_, share_.count() - 2 * Reach, WaitList{}, nullptr);
  }
  // After all slabs' launches. What a copy overwrites was read by this slab's launch one step ago, what a launch
  // overwrites by the neighbours' copies two steps ago. Both have ended: a launch waits for copies, and these for the
  // neighbours' launches of the step before.
  void fetch(const Slab& below, const Slab& above) {
    copy(below.next().to_above, next().below, below.outer_done_, from_below_);
    copy(above.next().to_below, next().above, above.outer_done_, from_above_);
  }
  Event become() {
    current_ = 1 - current_;
    return std::move(outer_done_);
  }

 private:
  struct Generation {
    cl_mem field, below, above, to_below, to_above;  // the slab; planes of the neighbours; planes for them
  };
  const Generation& now() const { return generations_[current_]; }
  const Generation& next() const { return generations_[1 - current_]; }
  size_t cells(size_t planes) const { return planes * side_ * side_; }
  size_t bytes(size_t planes) const { return cells(planes) * sizeof(float); }

  void launch(cl_kernel kernel, size_t planes, const WaitList& after, cl_event* done) {
    const size_t global[] = {side_, side_, planes};
    check(clEnqueueNDRangeKernel(launches_, kernel, 3, nullptr, global, Group, after.count(), after.data(), done),
          "clEnqueueNDRangeKernel");
  }
  void copy(cl_mem from, cl_mem to, const Event& after, Event& done) {
    const WaitList written{&after};
    check(clEnqueueCopyBuffer(copies_, from, to, 0, 0, bytes(Reach), written.count(), written.data(), done.out()),
          "clEnqueueCopyBuffer");
  }

  Share share_;
  size_t side_, planes_of_box_;  // cells along x and y; along z
  cl_command_queue launches_, copies_;
  cl_kernel inner_, outer_;
  Generation generations_[2];
  size_t current_ = 0;
  Event outer_done_, from_below_, from_above_;  // of the last step
};

void advance_all(DeviceGroup& group, std::vector<Slab>& slabs, int64_t steps) {
  Pace pace;
  const size_t count = slabs.size();
  for (int64_t step = 0; step < steps; ++step) {
    const Wind wind(step, steps);
    const Line x(wind.along[0]), y(wind.along[1]), z(wind.along[2]);
    for (Slab& slab : slabs) slab.launch(x, y, z);
    group.flush();
    for (size_t d = 0; d < count; ++d) slabs[d].fetch(slabs[(d + count - 1) % count], slabs[(d + 1) % count]);
    group.flush();
    std::vector<Event> ends;
    for (Slab& slab : slabs) ends.push_back(slab.become());
    pace.step(std::move(ends));
  }
  group.finish();
}

bool verify(const std::vector<float>& field, Box computed, int64_t steps) {
  Box carried = computed;
  for (int64_t step = 0; step < steps; ++step) {
    const Wind wind(step, steps);
    for (size_t axis = 0; axis < 3; ++axis) {
      computed[axis].interpolate(Line(wind.along[axis]));
      carried[axis].carry(wind.along[axis]);
    }
  }
  const double count = static_cast<double>(steps), rounding = 1e-5 + 1e-6 * std::sqrt(count);
  const double damping = count * (carried[0].error_of_step() + carried[1].error_of_step() + carried[2].error_of_step());
  const auto near = [&](size_t i, double value, double tolerance) {
    return std::fabs(double{field[i]} - value) <= tolerance;
  };
  bool correct = true;
  double sum = 0, expected = 0;
  computed.each_cell([&](size_t i, double value) {
    correct = correct && near(i, value, rounding);
    sum += double{field[i]};
    expected += value;
  });
  carried.each_cell([&](size_t i, double value) { correct = correct && near(i, value, damping + rounding); });
  return correct && std::fabs(sum - expected) <= rounding * expected;
}

int run(const Settings& s) {
  const size_t cells = static_cast<size_t>(s.cells), planes = s.planes == 0 ? cells : static_cast<size_t>(s.planes);
  DeviceGroup group(Source, s.devices);
  if (planes < 2 * Reach * group.size()) refuse("app_advection", "each device needs four planes");
  const Box box(cells, planes);
  std::vector<float> field(cells * cells * planes);
  box.each_cell([&](size_t i, double value) { field[i] = static_cast<float>(value); });
  std::vector<Slab> slabs;
  for (size_t d = 0; d < group.size(); ++d) slabs.emplace_back(group, d, cells, planes);
  const Line calm(0);
  for (Slab& slab : slabs) {
    slab.send(field.data());
    slab.launch(calm, calm, calm);  // some drivers compile at the first launch; the first step does it again
  }
  group.finish();

  const double start = now_s();
  advance_all(group, slabs, s.steps);
  const double seconds = now_s() - start;

  for (Slab& slab : slabs) slab.receive(field.data());
  group.finish();
  const double operations = OperationsPerCell * static_cast<double>(field.size()) * static_cast<double>(s.steps);
  std::fprintf(stderr, "gflops=%.1f\n", 1e-9 * operations / seconds);
  return finish("advection", verify(field, box, s.steps), checksum(field), seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--cells", .help = "cells along x and y, a multiple of 32", .number = &s.cells, .small = 128,
       .large = 512, .least = 32, .most = 1 << 14, .multiple = 32},
      {.name = "--planes", .help = "cells along z; 0: as many as along x", .number = &s.planes, .most = 1 << 16},
      {.name = "--steps", .help = "steps of time", .number = &s.steps, .small = 100, .large = 1000, .least = 1,
       .most = 1 << 20},
      gt::apps::devices_option(s.devices)};
  gt::apps::parse(argc, argv, "Carries a wave around on OpenCL devices that exchange borders, and checks it.", options);
  return gt::apps::run(s);
}
