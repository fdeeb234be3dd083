// A program with many places to send its memory to: all platforms, all devices, contexts that come and go.
//   places platforms | devices | crowd | loop N
// Its output is the same on every run. `loop` also writes how many KiB it grew by, from its 100th round to its last, to
// the file "grown".
#include <CL/cl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr size_t Bytes = size_t{1} << 20;

[[noreturn]] void die(const char* what) {
  std::printf("%s failed\n", what);
  std::exit(1);
}

std::vector<cl_platform_id> platforms() {
  cl_uint n = 0;
  clGetPlatformIDs(0, nullptr, &n);
  std::vector<cl_platform_id> out(n);
  clGetPlatformIDs(n, out.data(), nullptr);
  return out;
}
std::vector<cl_device_id> devices(cl_platform_id platform) {
  cl_uint n = 0;
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n);
  std::vector<cl_device_id> out(n);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, out.data(), nullptr);
  return out;
}

// A context of all devices of a platform, a queue for each, one buffer.
struct Place {
  cl_context context;
  std::vector<cl_command_queue> queues;
  cl_mem buffer;

  explicit Place(cl_platform_id platform) {
    const std::vector<cl_device_id> all = devices(platform);
    context = clCreateContext(nullptr, static_cast<cl_uint>(all.size()), all.data(), nullptr, nullptr, nullptr);
    if (!context) die("clCreateContext");
    for (cl_device_id d : all) queues.push_back(clCreateCommandQueue(context, d, 0, nullptr));
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, nullptr, nullptr);
    if (!buffer) die("clCreateBuffer");
  }
  ~Place() {
    clReleaseMemObject(buffer);
    for (cl_command_queue q : queues) clReleaseCommandQueue(q);
    clReleaseContext(context);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  cl_uint references() const {
    cl_uint n = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, nullptr);
    return n;
  }
};

unsigned char* block() { return static_cast<unsigned char*>(std::malloc(Bytes)); }

// Writes by one queue and reads by another; what does not come back as it went ends the program.
void there_and_back(const Place& at, size_t to, size_t from, unsigned char* p, int seed) {
  std::memset(p, seed, Bytes);
  p[1] = static_cast<unsigned char>(seed + 1);
  if (clEnqueueWriteBuffer(at.queues[to], at.buffer, CL_TRUE, 0, Bytes, p, 0, nullptr, nullptr)) die("write");
  std::memset(p, 0, Bytes);
  if (clEnqueueReadBuffer(at.queues[from], at.buffer, CL_TRUE, 0, Bytes, p, 0, nullptr, nullptr)) die("read");
  const auto mark = static_cast<unsigned char>(seed);
  if (p[0] != mark || p[1] != static_cast<unsigned char>(seed + 1) || p[Bytes - 1] != mark) die("the comparison");
}

void on_all_platforms() {
  std::vector<std::unique_ptr<Place>> places;
  for (cl_platform_id p : platforms()) places.push_back(std::make_unique<Place>(p));
  std::printf("%zu platforms\n", places.size());
  unsigned char* p = block();
  for (int i = 0; i < 100; ++i) there_and_back(*places[static_cast<size_t>(i) % places.size()], 0, 0, p, i);
  for (const auto& place : places) std::printf("%u references\n", place->references());
  places.erase(places.begin());  // with the pins that were made in it
  for (int i = 0; i < 20; ++i) there_and_back(*places[static_cast<size_t>(i) % places.size()], 0, 0, p, i);
  std::free(p);
}

void on_all_devices() {
  const Place place(platforms()[0]);
  const size_t n = place.queues.size();
  std::printf("%zu devices\n", n);
  unsigned char* blocks[] = {block(), block(), block()};
  for (int i = 0; i < 60; ++i) {
    const auto k = static_cast<size_t>(i);
    there_and_back(place, k % n, (k + k / 3) % n, blocks[k % 3], i);
  }
  std::printf("%u references\n", place.references());
  for (unsigned char* b : blocks) std::free(b);
}

// More contexts at a time than anybody keeps count of.
void in_a_crowd() {
  std::vector<std::unique_ptr<Place>> places;
  std::vector<unsigned char*> blocks;
  for (int i = 0; i < 100; ++i) {
    places.push_back(std::make_unique<Place>(platforms()[0]));
    blocks.push_back(block());
    there_and_back(*places.back(), 0, 0, blocks.back(), i);
  }
  places.clear();
  const Place last(platforms()[0]);
  for (unsigned char* b : blocks) {
    there_and_back(last, 0, 0, b, 7);
    std::free(b);
  }
  std::printf("%u references\n", last.references());
}

long resident_kib() {
  long pages = 0;
  std::FILE* f = std::fopen("/proc/self/statm", "r");
  if (!f || std::fscanf(f, "%*s %ld", &pages) != 1) die("statm");
  std::fclose(f);
  return pages * (::sysconf(_SC_PAGESIZE) / 1024);
}

void in_a_loop(int rounds) {
  unsigned char* kept = block();
  long before = 0;
  for (int i = 0; i < rounds; ++i) {
    const Place place(platforms()[0]);
    unsigned char* p = block();
    there_and_back(place, 0, 0, p, i);
    there_and_back(place, 0, 0, kept, i + 1);
    std::free(p);
    if (i == 100) before = resident_kib();
  }
  std::free(kept);
  std::FILE* f = std::fopen("grown", "w");
  if (f) std::fprintf(f, "%ld\n", resident_kib() - before);
  if (f) std::fclose(f);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "platforms") on_all_platforms();
  if (what == "devices") on_all_devices();
  if (what == "crowd") in_a_crowd();
  if (what == "loop") in_a_loop(argc > 2 ? std::atoi(argv[2]) : 1000);
  std::printf("done\n");
}
