// Matrix product on several devices, as VOCL's: each has its share of the rows and all of the other operand, which the
// host sends to every one of them. Built twice, as gemm.cc, and checked as it.
#include <cstdio>
#include <vector>

#include "microbench/apps/device_group.h"
#include "microbench/apps/gemm_model.h"

namespace gt::apps {
namespace {

struct Settings {
  int64_t size = 256, iterations = 5, devices = 1;
};

// What a device does: its rows of the product.
class Rows {
 public:
  Rows(DeviceGroup& group, size_t device, size_t n)
      : queue_(group.queue(device)), kernel_(group.kernel("gemm")), n_(n) {
    const Share tiles = group.share(n / Tile, device);
    first_ = tiles.begin * Tile;
    rows_ = tiles.count() * Tile;
    if (rows_ == 0) return;
    a_ = group.buffer(CL_MEM_READ_ONLY, bytes());
    b_ = group.buffer(CL_MEM_READ_ONLY, n * n * sizeof(Real));
    c_ = group.buffer(CL_MEM_WRITE_ONLY, bytes());
  }
  void multiply(const std::vector<Real>& a, const std::vector<Real>& b, std::vector<Real>& c) {
    if (rows_ == 0) return;
    enqueue_write(queue_, a_, &a[first_ * n_], bytes());
    enqueue_write(queue_, b_, b.data(), n_ * n_ * sizeof(Real));
    set_args(kernel_, a_, b_, c_, static_cast<cl_uint>(n_));
    const size_t global[2] = {n_, rows_}, local[2] = {Tile, Tile};
    check(clEnqueueNDRangeKernel(queue_, kernel_, 2, nullptr, global, local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    enqueue_read(queue_, c_, &c[first_ * n_], bytes());
  }

 private:
  size_t bytes() const { return rows_ * n_ * sizeof(Real); }

  cl_command_queue queue_;
  cl_kernel kernel_;
  size_t n_, first_ = 0, rows_ = 0;
  cl_mem a_ = nullptr, b_ = nullptr, c_ = nullptr;
};

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.size);
  DeviceGroup group(gemm_source().c_str(), s.devices);
  std::vector<Real> a(n * n), b(n * n), c(n * n);
  fill_matrix(a.data(), n * n, 5);
  fill_matrix(b.data(), n * n, 3);
  std::vector<Rows> parts;
  for (size_t d = 0; d < group.size(); ++d) parts.emplace_back(group, d, n);

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    for (Rows& part : parts) part.multiply(a, b, c);
    group.flush();
    group.finish();
  }
  const double seconds = now_s() - start;

  const double size = static_cast<double>(n);
  std::fprintf(stderr, "gflops=%.1f\n", 2e-9 * size * size * size * static_cast<double>(s.iterations) / seconds);
  const bool correct = verify_product(a.data(), b.data(), c.data(), n);
  return finish(Name, correct, checksum_words(c.data(), n * n * sizeof(Real)), seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {gt::apps::size_option(s.size),
                                      {.name = "--iterations",
                                       .help = "products to compute",
                                       .number = &s.iterations,
                                       .small = 10,
                                       .large = 5,
                                       .least = 1},
                                      gt::apps::devices_option(s.devices)};
  gt::apps::parse(argc, argv, "Multiplies two square matrices on OpenCL devices and checks the result.", options);
  return gt::apps::run(s);
}
