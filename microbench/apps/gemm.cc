// Matrix product, tiled through local memory; an iteration writes both operands and reads the result. Built twice:
// sgemm in single precision, dgemm in double.
//
// The product is checked by Freivalds' method, C x == A (B x) for a vector x of ones and twos, so
// that big sizes stay cheap to verify. Entries are small whole numbers: the sums are exact.
#include <string>
#include <vector>

#include "microbench/apps/session.h"

namespace gt::apps {
namespace {

#ifdef GT_DOUBLE
using Real = double;
constexpr const char* Name = "dgemm";
constexpr const char* RealInKernel = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\ntypedef double real;\n";
#else
using Real = float;
constexpr const char* Name = "sgemm";
constexpr const char* RealInKernel = "typedef float real;\n";
#endif

constexpr size_t Tile = 16;
constexpr const char* Source = R"(
#define TILE 16
kernel void gemm(global const real* a, global const real* b, global real* c, uint n) {
  local real ta[TILE][TILE], tb[TILE][TILE];
  const uint x = get_local_id(0), y = get_local_id(1);
  const uint column = get_global_id(0), row = get_global_id(1);
  real sum = 0;
  for (uint t = 0; t < n; t += TILE) {
    ta[y][x] = a[row * n + t + x];
    tb[y][x] = b[(t + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < TILE; ++k) sum += ta[y][k] * tb[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
)";

struct Settings : Common {
  Settings() { iterations = 5; }
  int64_t size = 256;
};

[[gnu::noinline]] Real* allocate_matrix(size_t n) { return checked<Real>(malloc(n * sizeof(Real)), n); }
[[gnu::noinline]] Real* allocate_product(size_t n) {
  const size_t bytes = n * sizeof(Real);
  return checked<Real>(malloc(bytes), n);
}

Real* make_matrix(Session& session, size_t n, size_t modulus) {
  Real* p = session.memory(n, allocate_matrix);
  for (size_t i = 0; i < n; ++i) p[i] = static_cast<Real>(i * 7 % modulus);
  return p;
}

std::vector<double> multiply(const Real* m, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (size_t row = 0; row < x.size(); ++row)
    for (size_t k = 0; k < x.size(); ++k)
      y[row] += static_cast<double>(m[row * x.size() + k]) * x[k];
  return y;
}

bool verify(const Real* a, const Real* b, const Real* c, size_t n) {
  std::vector<double> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = 1.0 + static_cast<double>(i % 2);
  return multiply(c, x) == multiply(a, multiply(b, x));
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.size), bytes = n * n * sizeof(Real);
  Session session((RealInKernel + std::string(Source)).c_str(), s.hand_pinned);
  cl_kernel kernel = session.kernel("gemm");
  Real* a = make_matrix(session, n * n, 5);
  Real* b = make_matrix(session, n * n, 3);
  Real* c = session.memory(n * n, allocate_product);
  cl_mem da = session.buffer(CL_MEM_READ_ONLY, bytes);
  cl_mem db = session.buffer(CL_MEM_READ_ONLY, bytes);
  cl_mem dc = session.buffer(CL_MEM_WRITE_ONLY, bytes);

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    session.write(da, a, bytes, CL_FALSE);
    session.write(db, b, bytes, CL_FALSE);
    set_args(kernel, da, db, dc, static_cast<cl_uint>(n));
    session.launch(kernel, {n, n}, {Tile, Tile});
    session.read(dc, c, bytes);
  }
  const double seconds = now_s() - start;

  const bool correct = verify(a, b, c, n);
  const uint64_t sum = checksum_words(c, bytes);
  for (Real* p : {a, b, c}) session.give_back(p, free_memory);
  return finish(Name, correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--size", .help = "rows and columns, a multiple of 16", .number = &s.size, .small = 512, .large = 8192,
       .least = 16, .most = 65536, .multiple = 16},
      s.iterations_option(10, 5, "products to compute"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Multiplies two square matrices on an OpenCL device and checks the result.", options);
  return gt::apps::run(s);
}
