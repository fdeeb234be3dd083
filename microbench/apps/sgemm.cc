// Single-precision matrix product, tiled through local memory; an iteration writes both operands
// and reads the result.
//
// The product is checked by Freivalds' method, C x == A (B x) for a vector x of ones and twos, so
// that big sizes stay cheap to verify. Entries are small whole numbers: the sums are exact.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "microbench/apps/harness.h"

namespace gt::apps {
namespace {

constexpr size_t Tile = 16;
constexpr const char* Source = R"(
#define TILE 16
kernel void sgemm(global const float* a, global const float* b, global float* c, uint n) {
  local float ta[TILE][TILE], tb[TILE][TILE];
  const uint x = get_local_id(0), y = get_local_id(1);
  const uint column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
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

struct Settings {
  int64_t size = 256, iterations = 5;
};

[[gnu::noinline]] float* allocate_matrix(size_t bytes, size_t modulus) {
  auto* p = static_cast<float*>(check_memory(malloc(bytes), bytes));
  for (size_t i = 0; i < bytes / sizeof(float); ++i) p[i] = static_cast<float>(i * 7 % modulus);
  return p;
}
[[gnu::noinline]] float* allocate_product(size_t bytes) {
  return static_cast<float*>(check_memory(malloc(bytes), bytes));
}

std::vector<double> multiply(const float* m, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (size_t row = 0; row < x.size(); ++row)
    for (size_t k = 0; k < x.size(); ++k)
      y[row] += static_cast<double>(m[row * x.size() + k]) * x[k];
  return y;
}

bool verify(const float* a, const float* b, const float* c, size_t n) {
  std::vector<double> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = 1.0 + static_cast<double>(i % 2);
  return multiply(c, x) == multiply(a, multiply(b, x));
}

int run(const Settings& s) {
  const size_t n = static_cast<size_t>(s.size);
  const size_t bytes = n * n * sizeof(float);
  Device device = open_device();
  cl_command_queue queue = make_queue(device);
  cl_program program = build(device, Source);
  cl_kernel kernel = make_kernel(program, "sgemm");
  float* a = allocate_matrix(bytes, 5);
  float* b = allocate_matrix(bytes, 3);
  float* c = allocate_product(bytes);
  cl_mem da = make_buffer(device, CL_MEM_READ_ONLY, bytes);
  cl_mem db = make_buffer(device, CL_MEM_READ_ONLY, bytes);
  cl_mem dc = make_buffer(device, CL_MEM_WRITE_ONLY, bytes);

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    check(clEnqueueWriteBuffer(queue, da, CL_FALSE, 0, bytes, a, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    check(clEnqueueWriteBuffer(queue, db, CL_FALSE, 0, bytes, b, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    const cl_uint order = static_cast<cl_uint>(n);
    set_arg(kernel, 0, sizeof da, &da);
    set_arg(kernel, 1, sizeof db, &db);
    set_arg(kernel, 2, sizeof dc, &dc);
    set_arg(kernel, 3, sizeof order, &order);
    const size_t global[] = {n, n}, local[] = {Tile, Tile};
    check(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, dc, CL_TRUE, 0, bytes, c, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  const double seconds = now_s() - start;

  const bool correct = verify(a, b, c, n);
  const uint64_t sum = checksum({c, n * n});
  for (cl_mem buffer : {da, db, dc}) release(buffer);
  for (float* p : {a, b, c}) free(p);
  check(clReleaseKernel(kernel), "clReleaseKernel");
  check(clReleaseProgram(program), "clReleaseProgram");
  check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
  close_device(device);
  return finish("sgemm", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {{"--size", "rows and columns, a multiple of 16", &s.size},
                                      {"--iterations", "products to compute", &s.iterations}};
  gt::apps::parse(argc, argv,
                  "Multiplies two square matrices on an OpenCL device and checks the result.",
                  options);
  if (s.size == 0 || s.size % 16 != 0 || s.size > 65536 || s.iterations == 0) {
    std::fprintf(stderr, "%s: --size must be a positive multiple of 16, --iterations positive\n",
                 argv[0]);
    return 2;
  }
  return gt::apps::run(s);
}
