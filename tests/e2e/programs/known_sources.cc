// Moves data from and to memory of every origin, and prints what each memory should be found to have moved: counted
// here by hand, by the function that made the memory.
//
//   PLACE h2d_transfers h2d_bytes d2h_transfers d2h_bytes in_place_buffers in_place_bytes
//
// PLACE is a function of this file, with the function around it where that is a wrapper ("wrapped < first_use"), or
// the kind of memory that no call makes ("stack", "static data", "file mapping"). A device without images or SVM does
// without these.
#include <CL/cl.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))  // functions that look alike stay two
#endif

enum Way { ToDevice, FromDevice };
struct Sum {
  unsigned long long count[2] = {}, bytes[2] = {}, buffers = 0, in_place = 0;
};
std::map<std::string, Sum> sums;

void moved(const char* place, Way way, size_t bytes) {
  Sum& s = sums[place];
  ++s.count[way];
  s.bytes[way] += bytes;
}
void used_in_place(const char* place, size_t bytes) {
  Sum& s = sums[place];
  ++s.buffers;
  s.in_place += bytes;
}

void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  std::fprintf(stderr, "known_sources: %s: %d\n", what, error);
  std::exit(1);
}
#define DO(call) check(call, #call)

constexpr size_t Size = 1 << 20;
cl_device_id device;
cl_context context;
cl_command_queue queue;
cl_mem target;  // of Size bytes

void send(const char* place, const void* p, size_t bytes) {
  DO(clEnqueueWriteBuffer(queue, target, CL_TRUE, 0, bytes, p, 0, nullptr, nullptr));
  moved(place, ToDevice, bytes);
}
void receive(const char* place, void* p, size_t bytes) {
  DO(clEnqueueReadBuffer(queue, target, CL_TRUE, 0, bytes, p, 0, nullptr, nullptr));
  moved(place, FromDevice, bytes);
}

// --- Memory that a call makes ---
APART char* from_malloc() { return static_cast<char*>(malloc(Size)); }
APART char* from_calloc() { return static_cast<char*>(calloc(Size / 16, 16)); }
APART char* from_new() { return new char[Size]; }
APART char* from_posix_memalign() {
  void* p = nullptr;
  return posix_memalign(&p, 4096, Size) == 0 ? static_cast<char*>(p) : nullptr;
}
APART char* from_aligned_alloc() { return static_cast<char*>(aligned_alloc(64, Size)); }
APART char* from_mmap() {
  return static_cast<char*>(mmap(nullptr, Size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
APART char* from_strdup(const char* text) { return strdup(text); }

void allocations() {
  char* p = from_malloc();
  send("from_malloc", p + 777, 100);  // from its middle
  send("from_malloc", p + Size - 1, 1);
  receive("from_malloc", p, Size);
  free(p);
  p = from_calloc();
  send("from_calloc", p, Size);
  free(p);
  p = from_new();
  for (int i = 0; i < 5; ++i) receive("from_new", p + 4096 * i, 1000);
  delete[] p;
  p = from_posix_memalign();
  send("from_posix_memalign", p, 3000);
  free(p);
  p = from_aligned_alloc();
  send("from_aligned_alloc", p + 64, 64);
  free(p);
  p = from_mmap();
  receive("from_mmap", p + 8192, 8192);
  munmap(p, Size);
  p = from_strdup("a text that is sent to the device");
  send("from_strdup", p + 2, 4);
  free(p);
  if (clEnqueueWriteBuffer(queue, target, CL_TRUE, Size, 16, &p, 0, nullptr, nullptr) == CL_SUCCESS) exit(1);
}

// What realloc returned, realloc made: it grew from the first block.
APART char* first_block() { return static_cast<char*>(malloc(1000)); }
APART char* grown(char* p, size_t bytes) { return static_cast<char*>(realloc(p, bytes)); }
APART char* grown_again(char* p) { return static_cast<char*>(realloc(p, Size)); }
void reallocations() {
  char* p = first_block();
  send("first_block", p + 10, 900);
  for (size_t bytes = 2000; bytes <= 16000; bytes *= 2) {
    p = grown(p, bytes);
    send("grown", p, bytes);
  }
  p = grown_again(p);
  receive("grown_again", p + 12345, 54321);
  free(p);
}

APART char* wrapped() { return static_cast<char*>(malloc(Size)); }
APART void first_use() {
  char* p = wrapped();
  for (int i = 0; i < 3; ++i) send("wrapped < first_use", p + i, 1 << 10);
  free(p);
}
APART void second_use() {
  char* p = wrapped();
  receive("wrapped < second_use", p, 1 << 11);
  free(p);
}

APART char* of_thread() { return static_cast<char*>(malloc(1 << 16)); }
void threads() {
  for (int t = 0; t < 2; ++t) {  // one after the other: the sums are not theirs to share
    std::thread([] {
      char* p = of_thread();
      for (int i = 0; i < 4; ++i) send("of_thread", p, 1 << 12);
      free(p);
    }).join();
  }
}

// --- Memory that no call makes ---
char in_static_data[4096];
char under_a_buffer[4096] __attribute__((aligned(4096)));

void other_memory(const char* file) {
  char on_stack[2048];
  receive("stack", on_stack + 100, 1500);
  send("stack", on_stack, 48);
  receive("static data", in_static_data + 16, 512);
  const int fd = open(file, O_RDONLY);
  char* mapped = static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 0));
  close(fd);
  send("file mapping", mapped + 5, 2000);
  munmap(mapped, 4096);
}

// --- Rectangles and images: bytes of the data, without what lies between its rows ---
APART char* of_rectangles() { return static_cast<char*>(malloc(Size)); }
void rectangles() {
  char* p = of_rectangles();
  const size_t origin[3] = {8, 2, 0}, host[3] = {3, 1, 1}, region[3] = {40, 5, 3};
  DO(clEnqueueWriteBufferRect(queue, target, CL_TRUE, origin, host, region, 64, 1024, 128, 4096, p + 50, 0, nullptr,
                              nullptr));
  moved("of_rectangles", ToDevice, 40 * 5 * 3);
  DO(clEnqueueReadBufferRect(queue, target, CL_TRUE, origin, host, region, 64, 1024, 128, 4096, p, 0, nullptr,
                             nullptr));
  moved("of_rectangles", FromDevice, 40 * 5 * 3);
  free(p);
}

cl_mem make_buffer(cl_mem_flags flags, size_t bytes, void* host) {
  cl_int error = CL_SUCCESS;
  cl_mem buffer = clCreateBuffer(context, flags, bytes, host, &error);
  check(error, "clCreateBuffer");
  return buffer;
}
APART char* of_images() { return static_cast<char*>(malloc(16 * 8 * 16)); }
APART cl_mem mapped_image(void* host) {  // 16 x 8 elements of 16 bytes
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 16;
  desc.image_height = 8;
  cl_int error = CL_SUCCESS;
  cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, host, &error);
  check(error, "clCreateImage");
  return image;
}
void images() {
  cl_bool supported = CL_FALSE;
  DO(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof supported, &supported, nullptr));
  if (!supported) return;
  char* p = of_images();
  cl_mem image = mapped_image(p);
  moved("of_images", ToDevice, 16 * 8 * 16);
  const size_t origin[3] = {1, 1, 0}, region[3] = {5, 3, 1};
  DO(clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 16 * 16, 0, p, 0, nullptr, nullptr));
  moved("of_images", ToDevice, 5 * 3 * 16);
  size_t pitch = 0;
  cl_int error = CL_SUCCESS;
  void* mapped = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, origin, region, &pitch, nullptr, 0, nullptr,
                                   nullptr, &error);
  check(error, "clEnqueueMapImage");
  moved("mapped_image", FromDevice, 5 * 3 * 16);
  DO(clEnqueueUnmapMemObject(queue, image, mapped, 0, nullptr, nullptr));
  DO(clFinish(queue));
  DO(clReleaseMemObject(image));
  free(p);
}

// --- Buffers over and from host memory ---
APART char* copied_at_creation() { return static_cast<char*>(malloc(50000)); }
void copies() {
  char* p = copied_at_creation();
  for (int i = 0; i < 3; ++i) {
    cl_mem b = make_buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, 1000, p + 4000 * i);
    moved("copied_at_creation", ToDevice, 1000);
    DO(clReleaseMemObject(b));
  }
  free(p);
}

// A map copies to the host unless the old contents are not wanted; an unmap back when they were written.
void map_all_ways(cl_mem buffer, const char* place, size_t bytes) {
  for (const cl_map_flags flags : {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION}) {
    cl_int error = CL_SUCCESS;
    void* p = clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 64, bytes, 0, nullptr, nullptr, &error);
    check(error, "clEnqueueMapBuffer");
    if (flags != CL_MAP_WRITE_INVALIDATE_REGION) moved(place, FromDevice, bytes);
    DO(clEnqueueUnmapMemObject(queue, buffer, p, 0, nullptr, nullptr));
    if (flags != CL_MAP_READ) moved(place, ToDevice, bytes);
    DO(clFinish(queue));
  }
}

APART char* under_two_buffers() {
  void* p = nullptr;
  return posix_memalign(&p, 4096, 2 * Size) == 0 ? static_cast<char*>(p) : nullptr;
}
void in_place() {
  char* p = under_two_buffers();
  for (int i = 0; i < 2; ++i) {
    cl_mem b = make_buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, Size, p + Size * static_cast<size_t>(i));
    used_in_place("under_two_buffers", Size);
    map_all_ways(b, "under_two_buffers", 600);
    const cl_buffer_region region = {4096, 8192};
    cl_int error = CL_SUCCESS;
    cl_mem part = clCreateSubBuffer(b, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    check(error, "clCreateSubBuffer");
    map_all_ways(part, "under_two_buffers", 700);
    DO(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, 100, in_static_data, 0, nullptr, nullptr));
    moved("static data", ToDevice, 100);
    DO(clReleaseMemObject(part));
    DO(clReleaseMemObject(b));
  }
  free(p);
  cl_mem b = make_buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof under_a_buffer, under_a_buffer);
  used_in_place("static data", sizeof under_a_buffer);
  map_all_ways(b, "static data", 800);
  DO(clReleaseMemObject(b));
}

APART cl_mem pinned_buffer() {
  cl_int error = CL_SUCCESS;
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, Size, nullptr, &error);
  check(error, "clCreateBuffer");
  return b;
}
APART cl_mem migrated_buffer() {
  cl_int error = CL_SUCCESS;
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, 32768, nullptr, &error);
  check(error, "clCreateBuffer");
  return b;
}
void mappings() {
  cl_mem b = pinned_buffer();
  map_all_ways(b, "pinned_buffer", 900);
  // The pinned-buffer idiom: another buffer is filled from the mapping.
  cl_int error = CL_SUCCESS;
  char* p = static_cast<char*>(
      clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, Size, 0, nullptr, nullptr, &error));
  check(error, "clEnqueueMapBuffer");
  send("pinned_buffer", p + 4096, 5000);
  DO(clEnqueueUnmapMemObject(queue, b, p, 0, nullptr, nullptr));
  moved("pinned_buffer", ToDevice, Size);
  cl_mem m = migrated_buffer();
  DO(clEnqueueMigrateMemObjects(queue, 1, &m, 0, 0, nullptr, nullptr));
  moved("migrated_buffer", ToDevice, 32768);
  DO(clFinish(queue));
  DO(clReleaseMemObject(b));
  DO(clReleaseMemObject(m));
}

// --- SVM ---
APART char* of_svm() { return static_cast<char*>(clSVMAlloc(context, CL_MEM_READ_WRITE, Size, 0)); }
APART char* copied_to_svm() { return static_cast<char*>(malloc(Size)); }
void svm() {
  cl_device_svm_capabilities can = 0;
  if (clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, nullptr) != CL_SUCCESS || can == 0) return;
  char* shared = of_svm();
  char* p = copied_to_svm();
  DO(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, shared + 128, 4000, 0, nullptr, nullptr));
  moved("of_svm", FromDevice, 4000);
  DO(clEnqueueSVMUnmap(queue, shared + 128, 0, nullptr, nullptr));
  moved("of_svm", ToDevice, 4000);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, shared + 64, p + 1000, 6000, 0, nullptr, nullptr));
  moved("copied_to_svm", ToDevice, 6000);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, p, shared, 7000, 0, nullptr, nullptr));
  moved("copied_to_svm", FromDevice, 7000);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, shared, shared + 8192, 500, 0, nullptr, nullptr));  // inside the device
  send("of_svm", shared + 10, 300);
  DO(clFinish(queue));
  clSVMFree(context, shared);
  free(p);
}

}  // namespace

int main(int argc, char** argv) {
  cl_platform_id platform = nullptr;
  cl_int error = CL_SUCCESS;
  DO(clGetPlatformIDs(1, &platform, nullptr));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  check(error, "clCreateContext");
  queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
  check(error, "clCreateCommandQueue");
  target = clCreateBuffer(context, CL_MEM_READ_WRITE, Size, nullptr, &error);
  check(error, "clCreateBuffer");
  allocations();
  reallocations();
  first_use();
  second_use();
  threads();
  other_memory(argc > 1 ? argv[1] : argv[0]);
  rectangles();
  images();
  copies();
  in_place();
  mappings();
  svm();
  DO(clReleaseMemObject(target));
  DO(clReleaseCommandQueue(queue));
  DO(clReleaseContext(context));
  for (const auto& [place, s] : sums) {
    std::printf("%s: %llu %llu %llu %llu %llu %llu\n", place.c_str(), s.count[ToDevice], s.bytes[ToDevice],
                s.count[FromDevice], s.bytes[FromDevice], s.buffers, s.in_place);
  }
  return 0;
}
