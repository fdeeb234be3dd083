// Moves the same bytes from one block to another through a device until it is lost; its memory stays its own.
//
// Usage: kept BYTES [ROUNDS]. Without ROUNDS: until a call fails, after a line that says that it began. With them,
// half-way a child is forked, which finds the bytes of that moment and writes over its own. Prints what is right, line
// by line. With a third argument: forks while a buffer is mapped, and nothing else.
#include <CL/cl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

unsigned char mark(size_t i, unsigned seed) { return static_cast<unsigned char>(i * 7 + i / 4096 + seed); }

void fill(unsigned char* p, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) p[i] = mark(i, seed);
}
bool holds(const unsigned char* p, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i)
    if (p[i] != mark(i, seed)) return false;
  return true;
}

void say(const char* what, bool good) {
  std::printf("%s: %s\n", what, good ? "yes" : "NO");
  std::fflush(stdout);
}

unsigned char* block(size_t bytes) {
  void* const p = std::malloc(bytes);
  if (!p) std::exit(3);
  return static_cast<unsigned char*>(p);
}

// Each side writes; neither may see it of the other.
void fork_half_way(unsigned char* from, unsigned char* to, size_t bytes, unsigned seed) {
  int down[2];
  if (::pipe(down) != 0) std::exit(3);
  const pid_t child = ::fork();
  if (child == 0) {
    char c;
    ::close(down[1]);
    const bool waited = ::read(down[0], &c, 1) == 0;
    const bool good = waited && holds(from, bytes, seed) && holds(to, bytes, seed);
    std::memset(from, 0xee, bytes);
    std::memset(to, 0xee, bytes);
    std::_Exit(good ? 0 : 1);
  }
  ::close(down[0]);
  fill(from, bytes, seed + 100);
  std::memset(to, 0, bytes);
  ::close(down[1]);
  int status = -1;
  const bool ended = ::waitpid(child, &status, 0) == child;
  say("the child has the bytes of the fork", ended && status == 0);
  const bool zeros = std::count(to, to + bytes, 0) == static_cast<long>(bytes);
  say("the parent has its own", holds(from, bytes, seed + 100) && zeros);
}

// The same for what a map shows. The buffer holds the parent's bytes afterwards.
int fork_while_mapped(cl_context context, cl_command_queue queue, size_t bytes) {
  cl_int code = CL_SUCCESS;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, 2 * bytes, nullptr, &code);
  auto* const all = static_cast<unsigned char*>(clEnqueueMapBuffer(
      queue, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 2 * bytes, 0, nullptr, nullptr, &code));
  if (!all) return 1;
  fill(all, bytes, 5);
  fill(all + bytes, bytes, 5);
  fork_half_way(all, all + bytes, bytes, 5);
  code = clEnqueueUnmapMemObject(queue, buffer, all, 0, nullptr, nullptr);
  auto* const half = static_cast<unsigned char*>(
      clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, bytes, 0, nullptr, nullptr, &code));
  say("the device has the parent's", half && holds(half, bytes, 105));
  if (half) clEnqueueUnmapMemObject(queue, buffer, half, 0, nullptr, nullptr);
  unsigned char* const plain = block(bytes);
  code = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, plain, 0, nullptr, nullptr);
  say("as it is read", code == CL_SUCCESS && holds(plain, bytes, 105));
  std::free(plain);
  clReleaseMemObject(buffer);
  return code == CL_SUCCESS ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t bytes = std::strtoul(argv[1], nullptr, 10);
  const unsigned rounds = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 0;
  unsigned char* const from = block(bytes);
  unsigned char* const to = block(bytes);
  fill(from, bytes, 0);
  cl_platform_id platform;
  cl_device_id devices[8];
  cl_uint count = 0;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 3;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS) return 3;
  cl_context context = clCreateContext(nullptr, 1, &devices[count - 1], nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueue(context, devices[count - 1], 0, nullptr);
  if (argc > 3) return fork_while_mapped(context, queue, bytes);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
  unsigned seed = 0;
  bool intact = true;
  cl_int code = CL_SUCCESS;
  say("began", true);
  for (unsigned round = 0; code == CL_SUCCESS && (rounds == 0 || round < rounds); ++round) {
    seed = round;
    fill(from, bytes, seed);
    std::memset(to, 0, bytes);
    cl_event written = nullptr;
    code = clEnqueueWriteBuffer(queue, buffer, round % 2 ? CL_TRUE : CL_FALSE, 0, bytes, from, 0, nullptr, &written);
    if (code != CL_SUCCESS) break;
    code = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, to, 1, &written, nullptr);
    clReleaseEvent(written);
    if (code == CL_SUCCESS && !holds(to, bytes, seed)) intact = false;
    if (rounds && round == rounds / 2) {
      fork_half_way(from, to, bytes, seed);
      fill(from, bytes, seed);
    }
  }
  if (rounds == 0) std::printf("lost %d\n", code);
  say("what came back", intact);
  say("what was sent", holds(from, bytes, seed));
  std::free(from);
  std::free(to);
  unsigned char* const again = block(bytes);
  fill(again, bytes, 77);
  say("memory afterwards", holds(again, bytes, 77));
  std::free(again);
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return rounds == 0 || code == CL_SUCCESS ? 0 : 1;
}
