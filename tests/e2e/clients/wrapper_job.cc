// Host memory from wrappers: a checked malloc that is called from three places, a vector that grows in two, an
// allocator that calls itself, and a place that needs no telling apart. All of it is sent to a device.
#include <cstdlib>
#include <span>
#include <vector>

#include "microbench/apps/harness.h"

namespace {

using namespace gt::apps;

constexpr size_t Elements = 1 << 18, Bytes = Elements * sizeof(float);
Device device;
cl_command_queue queue;
cl_mem buffer;

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))  // functions that look alike stay two
#endif

APART void send(void* p) {
  check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, Bytes, p, 0, nullptr, nullptr), "write");
}

APART void* xmalloc(size_t bytes) {
  void* p = malloc(bytes);
  if (!p) abort();
  return p;
}

APART void first_use() {
  void* p = xmalloc(Bytes);
  send(p);
  free(p);
}
APART void second_use() {
  void* p = xmalloc(Bytes);
  send(p);
  free(p);
}
APART void third_use() {
  void* p = xmalloc(Bytes);
  send(p);
  free(xmalloc(16));  // too small to ask who calls
  free(p);
}
APART void plain_use() {
  void* p = malloc(Bytes);
  send(p);
  free(p);
}
APART void growing(std::vector<float>& v) {
  for (size_t i = 0; i < Elements; ++i) v.push_back(1);
}
APART void vector_use() {
  std::vector<float> v;
  growing(v);
  send(v.data());
}
APART void other_vector_use() {
  std::vector<float> v;
  growing(v);
  send(v.data());
}
APART void recursive_use(int depth) {
  if (depth > 0) return recursive_use(depth - 1);
  void* p = calloc(1, Bytes);
  send(p);
  free(p);
}

}  // namespace

int main(int argc, char** argv) {
  int64_t steps = 3;
  const Option options[] = {{"--steps", "Rounds", &steps, nullptr}};
  parse(argc, argv, "Allocates through wrappers.", options);
  device = open_device();
  queue = make_queue(device);
  buffer = make_buffer(device, CL_MEM_READ_WRITE, Bytes);
  for (int64_t i = 0; i < steps; ++i) {
    first_use();
    second_use();
    third_use();
    plain_use();
    vector_use();
    other_vector_use();
    recursive_use(3);
    recursive_use(5);
  }
  check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
  release(buffer);
  close_device(device);
  return finish("wrapper_job", true, 0, 0);
}
