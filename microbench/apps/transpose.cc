// Matrix transposition, tiled through local memory: no arithmetic, so the transfers are nearly all
// of its time.
#include <cstdio>
#include <cstdlib>

#include "microbench/apps/harness.h"

namespace gt::apps {
namespace {

constexpr size_t Tile = 16;
constexpr const char* Source = R"(
#define TILE 16
kernel void transpose(global const float* in, global float* out, uint width, uint height) {
  local float tile[TILE][TILE + 1];
  const uint lx = get_local_id(0), ly = get_local_id(1);
  const uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
  tile[ly][lx] = in[(size_t)(top + ly) * width + left + lx];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(size_t)(left + ly) * height + top + lx] = tile[lx][ly];
}
)";

struct Settings {
  int64_t width = 1024, height = 512, iterations = 5;
};

[[gnu::noinline]] float* allocate_input(size_t bytes) {
  auto* p = static_cast<float*>(check_memory(malloc(bytes), bytes));
  for (size_t i = 0; i < bytes / sizeof(float); ++i) p[i] = static_cast<float>(i % 16777213);
  return p;
}
[[gnu::noinline]] float* allocate_output(size_t bytes) {
  return static_cast<float*>(check_memory(malloc(bytes), bytes));
}

bool verify(const float* in, const float* out, size_t width, size_t height) {
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      if (in[y * width + x] != out[x * height + y]) return false;
  return true;
}

int run(const Settings& s) {
  const size_t width = static_cast<size_t>(s.width), height = static_cast<size_t>(s.height);
  const size_t bytes = width * height * sizeof(float);
  Device device = open_device();
  cl_command_queue queue = make_queue(device);
  cl_program program = build(device, Source);
  cl_kernel kernel = make_kernel(program, "transpose");
  float* in = allocate_input(bytes);
  float* out = allocate_output(bytes);
  cl_mem d_in = make_buffer(device, CL_MEM_READ_ONLY, bytes);
  cl_mem d_out = make_buffer(device, CL_MEM_WRITE_ONLY, bytes);
  const cl_uint w = static_cast<cl_uint>(width), h = static_cast<cl_uint>(height);
  set_arg(kernel, 0, sizeof d_in, &d_in);
  set_arg(kernel, 1, sizeof d_out, &d_out);
  set_arg(kernel, 2, sizeof w, &w);
  set_arg(kernel, 3, sizeof h, &h);

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    check(clEnqueueWriteBuffer(queue, d_in, CL_TRUE, 0, bytes, in, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    const size_t global[] = {width, height}, local[] = {Tile, Tile};
    check(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, d_out, CL_TRUE, 0, bytes, out, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  const double seconds = now_s() - start;

  const bool correct = verify(in, out, width, height);
  const uint64_t sum = checksum({out, width * height});
  release(d_in);
  release(d_out);
  free(in);
  free(out);
  check(clReleaseKernel(kernel), "clReleaseKernel");
  check(clReleaseProgram(program), "clReleaseProgram");
  check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
  close_device(device);
  return finish("transpose", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {"--width", "columns, a multiple of 16", &s.width},
      {"--height", "rows, a multiple of 16", &s.height},
      {"--iterations", "times to write, transpose and read", &s.iterations}};
  gt::apps::parse(argc, argv, "Transposes a matrix on an OpenCL device and checks the result.",
                  options);
  const int64_t most = 1 << 20;
  if (s.width == 0 || s.height == 0 || s.width % 16 != 0 || s.height % 16 != 0 || s.width > most ||
      s.height > most || s.iterations == 0) {
    std::fprintf(
        stderr,
        "%s: --width and --height must be positive multiples of 16, --iterations positive\n",
        argv[0]);
    return 2;
  }
  return gt::apps::run(s);
}
