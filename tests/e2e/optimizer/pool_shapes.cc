// A program whose transfers start from every kind of allocation, through contexts that come and go,
// threads and forks. Its output is the same on every run; the optimizer must not change a byte of
// it.
#include <CL/cl.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

constexpr size_t Bytes = size_t{3} << 20;

cl_device_id g_device;

struct Place {
  cl_context context;
  cl_command_queue queue;
  cl_mem buffer;

  Place() {
    context = clCreateContext(nullptr, 1, &g_device, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueue(context, g_device, 0, nullptr);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4 * Bytes, nullptr, nullptr);
  }
  ~Place() {
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  cl_uint references() const {
    cl_uint n = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, nullptr);
    return n;
  }
};

void fill(void* p, size_t bytes, unsigned seed) {
  auto* b = static_cast<unsigned char*>(p);
  for (size_t i = 0; i < bytes; ++i) b[i] = static_cast<unsigned char>(i * 31 + seed);
}
unsigned long sum(const void* p, size_t bytes) {
  unsigned long h = 1469598103934665603u;
  for (size_t i = 0; i < bytes; ++i)
    h = (h ^ static_cast<const unsigned char*>(p)[i]) * 1099511628211u;
  return h;
}

// There and back, at an odd offset, and says what arrived.
void transfer(const char* what, const Place& at, void* p, size_t bytes, unsigned seed) {
  fill(p, bytes, seed);
  const int w =
      clEnqueueWriteBuffer(at.queue, at.buffer, CL_FALSE, 3, bytes, p, 0, nullptr, nullptr);
  clFinish(at.queue);
  std::memset(p, 0, bytes);
  const int r = clEnqueueReadBuffer(at.queue, at.buffer, CL_TRUE, 3, bytes, p, 0, nullptr, nullptr);
  std::printf("%s: %d %d %016lx refs %u\n", what, w, r, sum(p, bytes), at.references());
}

void every_allocation(const Place& at) {
  void* p = std::malloc(Bytes);
  transfer("malloc", at, p, Bytes, 1);
  p = std::realloc(p, 2 * Bytes);
  std::printf("realloc kept %016lx\n", sum(p, Bytes));
  transfer("realloc", at, p, 2 * Bytes, 2);
  p = std::realloc(p, 100);
  std::printf("shrunk kept %016lx, usable %d\n", sum(p, 100), malloc_usable_size(p) >= 100);
  std::free(p);
  p = std::calloc(Bytes / 16, 16);
  std::printf("calloc zero %016lx\n", sum(p, Bytes));
  transfer("calloc", at, p, Bytes, 3);
  std::free(p);
  p = std::calloc(Bytes / 16, 16);
  std::printf("calloc again zero %016lx\n", sum(p, Bytes));
  std::free(p);
  for (size_t align = 16; align <= size_t{4} << 20; align *= 4) {
    if (posix_memalign(&p, align, 5000) != 0) std::abort();
    std::printf("align %zu: %d\n", align, reinterpret_cast<uintptr_t>(p) % align == 0);
    transfer("aligned", at, p, 5000, 4);
    std::free(p);
  }
  auto* array = new char[Bytes];
  transfer("new[]", at, array, Bytes, 5);
  delete[] array;
  std::vector<int> v(Bytes / 4);
  transfer("vector", at, v.data(), Bytes, 6);
}

void rectangles(const Place& at) {
  auto* p = static_cast<char*>(std::malloc(Bytes));
  fill(p, Bytes, 7);
  const size_t zero[3] = {0, 0, 0}, origin[3] = {16, 2, 1}, region[3] = {100, 20, 3};
  int err = clEnqueueWriteBufferRect(at.queue, at.buffer, CL_TRUE, zero, origin, region, 0, 0, 512,
                                     512 * 40, p, 0, nullptr, nullptr);
  std::memset(p, 0, Bytes);
  err += clEnqueueReadBufferRect(at.queue, at.buffer, CL_TRUE, zero, origin, region, 0, 0, 512,
                                 512 * 40, p, 0, nullptr, nullptr);
  std::printf("rect: %d %016lx\n", err, sum(p, Bytes));
  err = clEnqueueWriteBufferRect(at.queue, at.buffer, CL_TRUE, zero, zero, nullptr, 0, 0, 0, 0, p,
                                 0, nullptr, nullptr);
  std::printf("rect without region: %d\n", err);
  err = clEnqueueWriteBuffer(at.queue, at.buffer, CL_TRUE, 0, 64, nullptr, 0, nullptr, nullptr);
  std::printf("write from null: %d\n", err);
  err = clEnqueueReadBuffer(at.queue, nullptr, CL_TRUE, 0, 64, p, 0, nullptr, nullptr);
  std::printf("read of no buffer: %d\n", err);
  cl_mem copy = clCreateBuffer(at.context, CL_MEM_COPY_HOST_PTR, Bytes, p, &err);
  std::printf("copy in: %d refs %u\n", err, at.references());
  clReleaseMemObject(copy);
  cl_mem use = clCreateBuffer(at.context, CL_MEM_USE_HOST_PTR, Bytes, p, &err);
  std::printf("use: %d refs %u\n", err, at.references());
  clReleaseMemObject(use);
  std::free(p);
}

// Memory that outlives the context through which it was transferred first.
void contexts_come_and_go() {
  void* p = std::malloc(Bytes);
  for (unsigned i = 0; i < 3; ++i) {
    const Place at;
    transfer("context", at, p, Bytes, 10 + i);
  }
  {
    auto first = std::make_unique<Place>();
    const Place second;
    transfer("first", *first, p, Bytes, 20);
    transfer("second", second, p, Bytes, 21);
    first.reset();
    transfer("second alone", second, p, Bytes, 22);
    clRetainContext(second.context);
    std::printf("retained: refs %u\n", second.references());
    clReleaseContext(second.context);
  }
  std::free(p);
}

void loop(const Place& at) {
  unsigned long all = 0;
  for (unsigned i = 0; i < 50; ++i) {
    void* p = std::malloc(Bytes + i % 3);
    fill(p, 4096, i);
    clEnqueueWriteBuffer(at.queue, at.buffer, CL_TRUE, 0, Bytes, p, 0, nullptr, nullptr);
    clEnqueueReadBuffer(at.queue, at.buffer, CL_TRUE, 0, 4096, p, 0, nullptr, nullptr);
    all += sum(p, 4096);
    std::free(p);
  }
  std::printf("loop: %016lx\n", all);
}

void threads(const Place& at) {
  std::vector<void*> blocks(8);
  std::vector<std::thread> workers;
  for (size_t t = 0; t < 4; ++t)
    workers.emplace_back([&, t] {
      for (size_t i = 0; i < 2; ++i) {
        void* p = blocks[t * 2 + i] = std::malloc(Bytes);
        fill(p, 1000, static_cast<unsigned>(t));
        clEnqueueWriteBuffer(at.queue, at.buffer, CL_TRUE, t * 1000, 1000, p, 0, nullptr, nullptr);
      }
    });
  for (auto& w : workers) w.join();
  for (void* p : blocks) std::free(p);
  std::vector<char> out(4000);
  clEnqueueReadBuffer(at.queue, at.buffer, CL_TRUE, 0, 4000, out.data(), 0, nullptr, nullptr);
  std::printf("threads: %016lx\n", sum(out.data(), 4000));
}

// The child uses and frees what it inherits; the parent's memory stays as it was.
void forks(const Place& at) {
  void* p = std::malloc(Bytes);
  transfer("before fork", at, p, Bytes, 30);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const bool same = sum(p, 100) != 0;
    std::memset(p, 9, Bytes);
    void* q = std::malloc(Bytes);
    std::memset(q, 1, Bytes);
    std::free(p);
    std::free(q);
    _exit(same ? 5 : 6);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child: %d, kept %016lx\n", WEXITSTATUS(status), sum(p, Bytes));
  transfer("after fork", at, p, Bytes, 31);
  std::free(p);
}

}  // namespace

int main(int argc, char** argv) {
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 77;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &g_device, nullptr) != CL_SUCCESS) return 77;
  void* early = std::malloc(Bytes);  // before there is a context
  {
    const Place at;
    transfer("early", at, early, Bytes, 0);
    every_allocation(at);
    rectangles(at);
    loop(at);
    threads(at);
    forks(at);
  }
  contexts_come_and_go();
  std::free(early);
  if (argc > 1 && std::strcmp(argv[1], "abort") == 0) std::abort();
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
