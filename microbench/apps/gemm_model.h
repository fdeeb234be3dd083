// What the matrix products compute, on one device and on several: single precision, or double with GT_DOUBLE.
//
// The product is checked by Freivalds' method, C x == A (B x) for a vector x of ones and twos, so that big sizes stay
// cheap to verify. Entries are small whole numbers: the sums are exact.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "microbench/apps/harness.h"

namespace gt::apps {

#ifdef GT_DOUBLE
using Real = double;
inline constexpr const char* Name = "dgemm";
inline constexpr const char* RealInKernel = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\ntypedef double real;\n";
#else
using Real = float;
inline constexpr const char* Name = "sgemm";
inline constexpr const char* RealInKernel = "typedef float real;\n";
#endif

inline constexpr size_t Tile = 16;
// kernel gemm(a, b, c, n): as many rows of c as there are of a, n columns; work-groups of Tile x Tile.
inline constexpr const char* GemmSource = R"(
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

inline std::string gemm_source() { return RealInKernel + std::string(GemmSource); }

inline Option size_option(int64_t& size) {
  return {.name = "--size",
          .help = "rows and columns, a multiple of 16",
          .number = &size,
          .small = 512,
          .large = 8192,
          .least = 16,
          .most = 65536,
          .multiple = 16};
}

inline void fill_matrix(Real* p, size_t n, size_t modulus) {
  for (size_t i = 0; i < n; ++i) p[i] = static_cast<Real>(i * 7 % modulus);
}

inline std::vector<double> multiply(const Real* m, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (size_t row = 0; row < x.size(); ++row)
    for (size_t k = 0; k < x.size(); ++k) y[row] += static_cast<double>(m[row * x.size() + k]) * x[k];
  return y;
}

inline bool verify_product(const Real* a, const Real* b, const Real* c, size_t n) {
  std::vector<double> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = 1.0 + static_cast<double>(i % 2);
  return multiply(c, x) == multiply(a, multiply(b, x));
}

}  // namespace gt::apps
