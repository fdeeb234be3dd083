// Temperatures of a chip: its power map arrives for each interval, some time steps are computed, and the temperatures
// come back while the host prepares the next interval.
//
// Non-blocking transfers; frames are received alternately into two arrays, and waited for by event.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr float Ambient = 80, Conduct = 0.1f, Cool = 0.01f;
constexpr size_t Samples = 256;
constexpr const char* Source = R"(
kernel void advance(global const float* from, global const float* power, global float* to, float scale, float conduct,
                 float cool, float ambient) {
  const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
  const size_t i = (size_t)y * w + x;
  const float t = from[i];
  const float around = from[x > 0 ? i - 1 : i] + from[x + 1 < w ? i + 1 : i] +
                       from[y > 0 ? i - w : i] + from[y + 1 < h ? i + w : i];
  to[i] = t + scale * power[i] + conduct * (around - 4.0f * t) + cool * (ambient - t);
}
)";

struct Settings : Common {
  int64_t size = 512, steps = 4;
};

[[gnu::noinline]] float* allocate_power(size_t n) { return checked<float>(malloc(n * sizeof(float)), n); }
// Both frames come from here.
[[gnu::noinline]] float* allocate_frame(size_t n) {
  return checked<float>(std::aligned_alloc(64, n * sizeof(float)), n);
}

float scale_of(int64_t interval) { return 0.5f + 0.125f * static_cast<float>(interval % 5); }

class Chip {
 public:
  Chip(Session& session, size_t size, int64_t steps)
      : session_(session),
        n_(size),
        bytes_(size * size * sizeof(float)),
        steps_(steps),
        kernel_(session.kernel("advance")) {
    from_ = session.buffer(CL_MEM_READ_WRITE, bytes_);
    to_ = session.buffer(CL_MEM_READ_WRITE, bytes_);
    power_ = session.buffer(CL_MEM_READ_ONLY, bytes_);
  }

  void start(const float* frame) { session_.write(from_, frame, bytes_); }

  // Everything is on its way when this returns; the event tells when `frame` has arrived.
  cl_event interval(const float* power, float scale, float* frame) {
    session_.write(power_, power, bytes_, CL_FALSE);
    for (int64_t i = 0; i < steps_; ++i) {
      set_args(kernel_, from_, power_, to_, scale, Conduct, Cool, Ambient);
      session_.launch(kernel_, {n_, n_});
      std::swap(from_, to_);
    }
    cl_event arrived = nullptr;
    check(clEnqueueReadBuffer(session_.queue(), from_, CL_FALSE, 0, bytes_, frame, 0, nullptr, &arrived),
          "clEnqueueReadBuffer");
    check(clFlush(session_.queue()), "clFlush");
    return arrived;
  }

 private:
  Session& session_;
  size_t n_, bytes_;
  int64_t steps_;
  cl_kernel kernel_;
  cl_mem from_, to_, power_;
};

void wait(cl_event& arrived) {
  if (arrived == nullptr) return;
  check(clWaitForEvents(1, &arrived), "clWaitForEvents");
  check(clReleaseEvent(arrived), "clReleaseEvent");
  arrived = nullptr;
}

// A cell after `steps`, from the square of cells around it that it depends on.
double advance_on_host(const float* frame, const float* power, int64_t n, int64_t cx, int64_t cy, int64_t steps,
                       float scale) {
  const int64_t x0 = std::max<int64_t>(0, cx - steps), x1 = std::min(n - 1, cx + steps);
  const int64_t y0 = std::max<int64_t>(0, cy - steps), y1 = std::min(n - 1, cy + steps);
  const int64_t w = x1 - x0 + 1, h = y1 - y0 + 1;
  std::vector<double> from(static_cast<size_t>(w * h)), to(from.size());
  const auto at = [&](int64_t x, int64_t y) -> double& {  // the square's edge repeats: right at the chip's edge only
    return from[static_cast<size_t>(std::clamp<int64_t>(y, 0, h - 1) * w + std::clamp<int64_t>(x, 0, w - 1))];
  };
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x) at(x, y) = double{frame[(y0 + y) * n + x0 + x]};
  for (int64_t s = 0; s < steps; ++s) {
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x) {
        const double t = at(x, y), around = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
        to[static_cast<size_t>(y * w + x)] = t + double{scale} * double{power[(y0 + y) * n + x0 + x]} +
                                             double{Conduct} * (around - 4 * t) + double{Cool} * (double{Ambient} - t);
      }
    from.swap(to);
  }
  return at(cx - x0, cy - y0);
}

bool verify(const float* before, const float* after, const float* power, int64_t n, int64_t steps, float scale) {
  Random random(71);
  for (size_t i = 0; i < Samples; ++i) {
    const int64_t x = random.below(static_cast<uint32_t>(n)), y = random.below(static_cast<uint32_t>(n));
    const double expected = advance_on_host(before, power, n, x, y, steps, scale);
    if (!(std::fabs(double{after[y * n + x]} - expected) <= 1e-4 * std::fabs(expected))) return false;
  }
  return true;
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.size), cells = n * n;
  Session session(Source, s.hand_pinned);
  Chip chip(session, n, s.steps);
  float* power = session.memory(cells, allocate_power);
  float* frame[] = {session.memory(cells, allocate_frame), session.memory(cells, allocate_frame)};
  Random random(70);
  for (size_t i = 0; i < cells; ++i) {
    power[i] = random.unit();
    frame[1][i] = Ambient + static_cast<float>(i * 7 % 64);  // what precedes the first interval
  }

  cl_event arrived[] = {nullptr, nullptr};
  const double start = now_s();
  chip.start(frame[1]);
  for (int64_t i = 0; i < s.iterations; ++i) {
    wait(arrived[i % 2]);
    arrived[i % 2] = chip.interval(power, scale_of(i), frame[i % 2]);
  }
  for (cl_event& e : arrived) wait(e);
  const double seconds = now_s() - start;

  const int64_t last = s.iterations - 1;
  const bool correct = verify(frame[(last + 1) % 2], frame[last % 2], power, s.size, s.steps, scale_of(last));
  const uint64_t sum = checksum({frame[last % 2], cells});
  for (float* p : {power, frame[0], frame[1]}) session.give_back(p, free_memory);
  return finish("hotspot", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--size", .help = "cells along each edge of the chip, a multiple of 4", .number = &s.size,
       .small = 1024, .large = 8192, .least = 4, .most = 32768, .multiple = 4},
      {.name = "--steps", .help = "time steps of an interval", .number = &s.steps, .least = 1, .most = 32},
      s.iterations_option(50, 40, "intervals"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Computes a chip's temperatures on an OpenCL device and checks them.", options);
  return gt::apps::run(s);
}
