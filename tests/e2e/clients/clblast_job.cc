// A client of CLBlast: matrix products through its C++ interface, checked on the host.
#include <clblast.h>

#include <cstdio>
#include <vector>

#include "microbench/apps/harness.h"

int main(int argc, char** argv) {
  using gt::apps::check;
  int64_t size = 64, iterations = 5;
  const gt::apps::Option options[] = {{"--size", "rows and columns", &size}, {"--iterations", "products", &iterations}};
  gt::apps::parse(argc, argv, "Multiplies matrices with CLBlast.", options);
  const size_t n = static_cast<size_t>(size), bytes = n * n * sizeof(float);

  gt::apps::Device device = gt::apps::open_device();
  cl_command_queue queue = gt::apps::make_queue(device);
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (size_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 5);
    b[i] = static_cast<float>(i % 3);
  }
  cl_mem da = gt::apps::make_buffer(device, CL_MEM_READ_WRITE, bytes);
  cl_mem db = gt::apps::make_buffer(device, CL_MEM_READ_WRITE, bytes);
  cl_mem dc = gt::apps::make_buffer(device, CL_MEM_READ_WRITE, bytes);
  for (int64_t i = 0; i < iterations; ++i) {
    check(clEnqueueWriteBuffer(queue, da, CL_TRUE, 0, bytes, a.data(), 0, nullptr, nullptr), "clEnqueueWriteBuffer");
    check(clEnqueueWriteBuffer(queue, db, CL_TRUE, 0, bytes, b.data(), 0, nullptr, nullptr), "clEnqueueWriteBuffer");
    const auto status = clblast::Gemm<float>(clblast::Layout::kRowMajor, clblast::Transpose::kNo,
                                             clblast::Transpose::kNo, n, n, n, 1.0f, da, 0, n, db, 0, n, 0.0f, dc, 0, n,
                                             &queue, nullptr);
    check(static_cast<cl_int>(status), "clblast::Gemm");
    check(clEnqueueReadBuffer(queue, dc, CL_TRUE, 0, bytes, c.data(), 0, nullptr, nullptr), "clEnqueueReadBuffer");
  }

  bool correct = true;
  for (size_t row = 0; row < n; ++row)
    for (size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (size_t k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
      correct = correct && sum == c[row * n + column];
    }
  for (cl_mem buffer : {da, db, dc}) gt::apps::release(buffer);
  check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
  gt::apps::close_device(device);
  return gt::apps::finish("clblast", correct, gt::apps::checksum(c), 0);
}
