// Matrix transposition, tiled through local memory: no arithmetic, so the transfers are nearly all
// of its time.
#include "microbench/apps/session.h"

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

struct Settings : Common {
  Settings() { iterations = 5; }
  int64_t width = 1024, height = 512;
};

[[gnu::noinline]] float* allocate_input(size_t n) { return checked<float>(malloc(n * sizeof(float)), n); }
[[gnu::noinline]] float* allocate_output(size_t n) {
  const size_t bytes = n * sizeof(float);
  return checked<float>(malloc(bytes), n);
}

bool verify(const float* in, const float* out, size_t width, size_t height) {
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      if (in[y * width + x] != out[x * height + y]) return false;
  return true;
}

int run(const Settings& s) {
  const size_t width = static_cast<size_t>(s.width), height = static_cast<size_t>(s.height), n = width * height;
  Session session(Source, s.hand_pinned);
  cl_kernel kernel = session.kernel("transpose");
  float* in = session.memory(n, allocate_input);
  float* out = session.memory(n, allocate_output);
  for (size_t i = 0; i < n; ++i) in[i] = static_cast<float>(i % 16777213);
  cl_mem d_in = session.buffer(CL_MEM_READ_ONLY, n * sizeof(float));
  cl_mem d_out = session.buffer(CL_MEM_WRITE_ONLY, n * sizeof(float));
  set_args(kernel, d_in, d_out, static_cast<cl_uint>(width), static_cast<cl_uint>(height));

  const double start = now_s();
  for (int64_t i = 0; i < s.iterations; ++i) {
    session.write(d_in, in, n * sizeof(float));
    session.launch(kernel, {width, height}, {Tile, Tile});
    session.read(d_out, out, n * sizeof(float));
  }
  const double seconds = now_s() - start;

  const bool correct = verify(in, out, width, height);
  const uint64_t sum = checksum({out, n});
  session.give_back(in, free_memory);
  session.give_back(out, free_memory);
  return finish("transpose", correct, sum, seconds);
}

}  // namespace
}  // namespace gt::apps

int main(int argc, char** argv) {
  gt::apps::Settings s;
  const gt::apps::Option options[] = {
      {.name = "--width", .help = "columns, a multiple of 16", .number = &s.width, .small = 1024, .large = 8192,
       .least = 16, .most = 1 << 20, .multiple = 16},
      {.name = "--height", .help = "rows, a multiple of 16", .number = &s.height, .small = 1024, .large = 8192,
       .least = 16, .most = 1 << 20, .multiple = 16},
      s.iterations_option(100, 50, "times to write, transpose and read"), s.hand_pinned_option()};
  gt::apps::parse(argc, argv, "Transposes a matrix on an OpenCL device and checks the result.", options);
  return gt::apps::run(s);
}
