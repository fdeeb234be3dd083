// Sends bytes again and again that are partly the same: by writes that wait and writes that do not, as new buffers'
// first contents, in rows and through maps. Its memory changes as soon as OpenCL lets it.
//
// Usage: resend SEED STEPS. Prints a number of what the device has, step by step: the same for the same arguments.
#include <CL/cl.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/e2e/virtual/check.h"
#include "tests/random_bytes.h"

namespace {

using Bytes = std::vector<unsigned char>;
constexpr size_t KiB = 1024, Size = 6 * 1024 * KiB;

uint64_t number_of(const Bytes& bytes) {
  uint64_t hash = 14695981039346656037u, word = 0;
  for (size_t i = 0; i < bytes.size(); i += sizeof word) {
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 31;
  }
  return hash;
}

struct Job {
  explicit Job(unsigned seed) : random(seed) {
    open_first_device(device, context, queue);
    for (Bytes& data : pool) {
      data.resize(Size);
      gt::testing::randomize(random, data);
    }
    buffer = make(nullptr);
    const unsigned char zero = 0;
    CHECK(clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, Size, 0, nullptr, nullptr));
  }

  size_t below(size_t n) { return random() % n; }
  cl_mem make(void* host) {
    cl_int code = 0;
    cl_mem made = clCreateBuffer(context, host ? CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE, Size, host, &code);
    CHECK(code);
    return made;
  }
  Bytes& some_data() {
    Bytes& data = pool[below(std::size(pool))];
    if (below(3) == 0)
      for (int i = 0; i < 3; ++i) data[below(Size)] ^= 1;
    return data;
  }
  void write(const unsigned char* from, size_t at, size_t bytes) {
    if (below(2)) return CHECK(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, at, bytes, from, 0, nullptr, nullptr));
    cl_event event = nullptr;
    CHECK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, at, bytes, from, 0, nullptr, &event));
    CHECK(clWaitForEvents(1, &event));
    CHECK(clReleaseEvent(event));
  }
  void map(const unsigned char* from, size_t at, size_t bytes) {
    cl_int code = 0;
    void* const p = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, at, bytes, 0, nullptr,
                                       nullptr, &code);
    CHECK(code);
    std::memcpy(p, from, bytes);
    CHECK(clEnqueueUnmapMemObject(queue, buffer, p, 0, nullptr, nullptr));
    CHECK(clFinish(queue));
  }
  // Several at a time, from memory that changes when the last has ended.
  void write_many() {
    Bytes copy = some_data();
    for (int i = 0; i < 6; ++i) {
      const size_t bytes = Size / 6, at = static_cast<size_t>(i) * bytes;
      CHECK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, at, bytes, copy.data() + at, 0, nullptr, nullptr));
    }
    CHECK(clFinish(queue));
    std::fill(copy.begin(), copy.end(), 0xee);
  }
  void rows(const unsigned char* from) {
    const size_t row = 64 * KiB, origin[3] = {below(row / 2), below(8), 0}, zero[3] = {};
    const size_t region[3] = {1 + below(row / 2), 1 + below(64), 1};
    CHECK(clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, origin, zero, region, row, 0, row, 0, from, 0, nullptr,
                                   nullptr));
  }
  void step() {
    Bytes copy = some_data();
    const size_t bytes = below(2) ? 256 * KiB * (1 + below(16)) : 1 + below(4096 * KiB);
    const size_t at = below(2) ? (below(4) * 256 * KiB) : below(Size - bytes);
    switch (below(6)) {
      case 0: {
        clReleaseMemObject(buffer);
        buffer = make(copy.data());
        break;
      }
      case 1: map(copy.data(), at, bytes); break;
      case 2: write_many(); break;
      case 3: rows(copy.data()); break;
      default: write(copy.data() + (at % (Size - bytes)), at, bytes); break;
    }
    std::fill(copy.begin(), copy.end(), 0xdd);  // it is ours again
  }
  uint64_t look() {
    Bytes read(Size);
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, Size, read.data(), 0, nullptr, nullptr));
    return number_of(read);
  }

  std::mt19937 random;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_mem buffer = nullptr;
  Bytes pool[4];
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Job job(static_cast<unsigned>(std::atoi(argv[1])));
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    job.step();
    std::printf("%d %016" PRIx64 "\n", i, job.look());
  }
  clReleaseMemObject(job.buffer);
  return 0;
}
