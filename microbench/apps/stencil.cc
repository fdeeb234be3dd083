// Seven-point stencil in three dimensions: heat spreads from a few hot cells. The host's grid is dense, the device's
// has a border of zeros, so whole volumes travel by rectangular transfers; after some sweeps the host has the result,
// heats some cells again and sends it back for the next ones.
//
// Host memory is calloc's: pages of the start's zeros have never been written.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

constexpr float Spread = 0.1f;
constexpr size_t Hot = 4096, Heated = 64;  // cells at the start, and before each iteration
constexpr const char* Source = R"(
kernel void sweep(global const float* from, global float* to, uint width, float spread) {
  const size_t row = width, plane = row * row;
  const size_t i = (get_global_id(2) + 1) * plane + (get_global_id(1) + 1) * row + get_global_id(0) + 1;
  const float around = from[i - 1] + from[i + 1] + from[i - row] + from[i + row] + from[i - plane] + from[i + plane];
  to[i] = from[i] + spread * (around - 6.0f * from[i]);
}
)";

struct Settings : Common {
  int64_t size = 64, sweeps = 4;
};

[[gnu::noinline]] float* allocate_grid(size_t n) { return checked<float>(calloc(n, sizeof(float)), n); }
[[gnu::noinline]] float* allocate_result(size_t n) { return checked<float>(calloc(n, sizeof(float)), n); }

class Heat {
 public:
  Heat(Session& session, size_t size) : session_(session), n_(size), kernel_(session.kernel("sweep")) {
    const size_t bytes = (n_ + 2) * (n_ + 2) * (n_ + 2) * sizeof(float);
    for (cl_mem& grid : grids_) {
      grid = session.buffer(CL_MEM_READ_WRITE, bytes);
      const float zero = 0;
      check(clEnqueueFillBuffer(session.queue(), grid, &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr),
            "clEnqueueFillBuffer");
    }
    session.finish();
  }

  void advance(const float* from, float* to, int64_t sweeps) {
    const size_t inner[] = {sizeof(float), 1, 1}, origin[] = {0, 0, 0}, region[] = {n_ * sizeof(float), n_, n_};
    const size_t row = (n_ + 2) * sizeof(float), host_row = n_ * sizeof(float);
    check(clEnqueueWriteBufferRect(session_.queue(), grids_[0], CL_TRUE, inner, origin, region, row, row * (n_ + 2),
                                   host_row, host_row * n_, from, 0, nullptr, nullptr),
          "clEnqueueWriteBufferRect");
    for (int64_t i = 0; i < sweeps; ++i) {
      set_args(kernel_, grids_[0], grids_[1], static_cast<cl_uint>(n_ + 2), Spread);
      session_.launch(kernel_, {n_, n_, n_});
      std::swap(grids_[0], grids_[1]);
    }
    check(clEnqueueReadBufferRect(session_.queue(), grids_[0], CL_TRUE, inner, origin, region, row, row * (n_ + 2),
                                  host_row, host_row * n_, to, 0, nullptr, nullptr),
          "clEnqueueReadBufferRect");
  }

 private:
  Session& session_;
  size_t n_;
  cl_kernel kernel_;
  cl_mem grids_[2] = {nullptr, nullptr};
};

struct Cell {
  size_t x, y, z;
};

// What a cell becomes depends on those at most `sweeps` away: a cube around it, computed on the host.
double advance_on_host(const float* grid, size_t n, Cell c, size_t sweeps) {
  const size_t side = 2 * sweeps + 3, plane = side * side;
  std::vector<double> from(side * plane, 0.0);
  const auto each = [&](size_t margin, auto visit) {
    for (size_t z = margin; z < side - margin; ++z)
      for (size_t y = margin; y < side - margin; ++y)
        for (size_t x = margin; x < side - margin; ++x) {
          const size_t gx = c.x + x - sweeps - 1, gy = c.y + y - sweeps - 1, gz = c.z + z - sweeps - 1;
          if (gx < n && gy < n && gz < n) visit(z * plane + y * side + x, (gz * n + gy) * n + gx);  // below 0 wraps
        }
  };
  each(0, [&](size_t i, size_t g) { from[i] = double{grid[g]}; });
  std::vector<double> to = from;
  for (size_t s = 0; s < sweeps; ++s) {
    each(1, [&](size_t i, size_t) {
      const double around =
          from[i - 1] + from[i + 1] + from[i - side] + from[i + side] + from[i - plane] + from[i + plane];
      to[i] = from[i] + double{Spread} * (around - 6 * from[i]);
    });
    from.swap(to);
  }
  return from[(sweeps + 1) * (plane + side + 1)];
}

// Some cells; the same ones for the same seed.
template <class Visit>
void visit_cells(int64_t seed, size_t n, size_t count, Visit visit) {
  Random random(static_cast<uint32_t>(seed) + 21);
  const auto below = static_cast<uint32_t>(n);
  for (size_t i = 0; i < count; ++i) {
    const size_t x = random.below(below), y = random.below(below);
    visit(Cell{x, y, random.below(below)});
  }
}
void heat_cells(float* grid, size_t n, int64_t seed, size_t count) {
  visit_cells(seed, n, count, [&](Cell c) { grid[(c.z * n + c.y) * n + c.x] = 100; });
}

// Where the host heated last, and beside it.
bool verify(const float* before, const float* after, size_t n, size_t sweeps, int64_t seed) {
  bool correct = true;
  visit_cells(seed, n, Heated, [&](Cell c) {
    c.x = std::min(n - 1, c.x + c.y % 3);
    const double expected = advance_on_host(before, n, c, sweeps);
    const double found = double{after[(c.z * n + c.y) * n + c.x]};
    correct = correct && std::fabs(found - expected) <= 1e-4 * (1e-3 + std::fabs(expected));
  });
  return correct;
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.size), cells = n * n * n;
  Session session(Source, s.hand_pinned);
  Heat heat(session, n);
  float* grid = session.memory(cells, allocate_grid);
  float* result = session.memory(cells, allocate_result);
  if (s.hand_pinned) std::fill(grid, grid + cells, 0.0f);
  heat_cells(grid, n, 0, Hot);

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    heat_cells(grid, n, i + 1, Heated);
    heat.advance(grid, result, s.sweeps);
    std::swap(grid, result);
  }
  const double seconds = now_s() - start;

  const bool correct = verify(result, grid, n, static_cast<size_t>(s.sweeps), s.iterations);
  const uint64_t sum = checksum({grid, cells});
  session.give_back(grid, free_memory);
  session.give_back(result, free_memory);
  return finish("stencil", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--size", .help = "cells along each edge of the grid", .number = &s.size, .small = 128, .large = 384,
       .least = 2, .most = 1024},
      {.name = "--sweeps", .help = "sweeps in each iteration", .number = &s.sweeps, .least = 1, .most = 16},
      s.iterations_option(40, 30, "times to send, sweep and receive the grid"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Spreads heat in three dimensions on an OpenCL device and checks the result.", options);
  return gt::apps::run(s);
}
