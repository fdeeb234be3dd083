/* Moves data in every way that host data can be moved, and prints for each such call what it moved: "HASH BYTES" by a
 * hash of its own, or "?" where the data is not there to be seen when the call returns.
 *
 * Usage: contents [LOOPS]
 */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { Bytes = 8192 };
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "contents: %s: %d\n", what, error);
  exit(1);
}
#define DO(call) check(call, #call)

/* FNV-1a over the rows of a box. */
static void moved_box(const void* p, const size_t region[3], size_t row, size_t slice) {
  unsigned long long h = 0xcbf29ce484222325ull;
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; ++y)
      for (size_t x = 0; x < region[0]; ++x)
        h = (h ^ ((const unsigned char*)p)[z * slice + y * row + x]) * 0x100000001b3ull;
  printf("%016llx %zu\n", h, region[0] * region[1] * region[2]);
}
static void moved(const void* p, size_t bytes) {
  const size_t line[3] = {bytes, 1, 1};
  moved_box(p, line, bytes, bytes);
}
static void unknown(void) { puts("?"); }

static void loops(cl_mem buffer, int count) {
  static int same[256], other[256], back[256];
  for (int i = 0; i < count; ++i) {
    other[0] = i + 1;
    DO(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof same, same, 0, NULL, NULL));
    moved(same, sizeof same);
    DO(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 1024, sizeof other, other, 0, NULL, NULL));
    moved(other, sizeof other);
    DO(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 1024, sizeof back, back, 0, NULL, NULL));
    moved(back, sizeof back);
  }
}

static void boxes(cl_mem buffer, char* heap) {
  const size_t zero[3] = {0, 0, 0}, host[3] = {8, 2, 1}, region[3] = {16, 3, 2};
  DO(clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, zero, host, region, 64, 512, 64, 512, heap, 0, NULL, NULL));
  moved_box(heap + 512 + 2 * 64 + 8, region, 64, 512);
  DO(clEnqueueReadBufferRect(queue, buffer, CL_TRUE, zero, zero, region, 64, 512, 0, 0, heap, 0, NULL, NULL));
  moved(heap, 16 * 3 * 2); /* the same bytes, lying in one piece */
}

static void creations(char* heap) {
  cl_int error;
  cl_mem copy = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4096, heap, &error);
  check(error, "copy");
  moved(heap, 4096);
  cl_mem use = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4096, heap + 4096, &error);
  check(error, "use");
  moved(heap + 4096, 4096);
  cl_mem none = clCreateBuffer(context, 0, 4096, NULL, &error); /* moves nothing */
  check(error, "none");
  DO(clReleaseMemObject(copy));
  DO(clReleaseMemObject(use));
  DO(clReleaseMemObject(none));
}

static void images(char* heap) {
  cl_int error;
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 16;
  desc.image_row_pitch = 80;
  cl_mem image = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, heap, &error);
  check(error, "image");
  const size_t zero[3] = {0, 0, 0}, part[3] = {4, 5, 1}, bytes[3] = {16, 5, 1}, all[3] = {64, 16, 1};
  moved_box(heap, all, 80, 0);
  DO(clEnqueueWriteImage(queue, image, CL_TRUE, zero, part, 100, 0, heap, 0, NULL, NULL));
  moved_box(heap, bytes, 100, 0);
  DO(clEnqueueReadImage(queue, image, CL_TRUE, zero, part, 0, 0, heap + 1, 0, NULL, NULL));
  moved(heap + 1, 80);
  DO(clReleaseMemObject(image));
}

static void svm(char* heap) {
  cl_device_svm_capabilities has = 0;
  if (clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, NULL) != CL_SUCCESS || has == 0) return;
  char* shared = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, shared, heap, 1000, 0, NULL, NULL));
  moved(heap, 1000);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, heap + 4096, shared, 500, 0, NULL, NULL));
  moved(heap + 4096, 500);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, shared + 2048, shared, 100, 0, NULL, NULL));
  unknown(); /* nothing of the host's */
  DO(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, shared, 300, 0, NULL, NULL));
  moved(shared, 300);
  memset(shared, 5, 300);
  moved(shared, 300);
  DO(clEnqueueSVMUnmap(queue, shared, 0, NULL, NULL));
  DO(clFinish(queue));
  clSVMFree(context, shared);
}

static void* map(cl_mem buffer, cl_bool waits, cl_map_flags flags, size_t offset, size_t bytes) {
  cl_int error;
  void* p = clEnqueueMapBuffer(queue, buffer, waits, flags, offset, bytes, 0, NULL, NULL, &error);
  check(error, "map");
  return p;
}
static void unmap(cl_mem memory, void* p) {
  DO(clEnqueueUnmapMemObject(queue, memory, p, 0, NULL, NULL));
  DO(clFinish(queue));
}

/* Not seen when they return, but when they were waited for. "later" lines are of no call of their own. */
static void late(const void* p, size_t bytes) {
  printf("later ");
  moved(p, bytes);
}
static void later(cl_mem buffer) {
  static char one[3000], two[3000], three[3000], four[3000];
  cl_event event;
  DO(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof one, one, 0, NULL, NULL));
  unknown();
  DO(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 1, sizeof two, two, 0, NULL, &event));
  unknown();
  DO(clWaitForEvents(1, &event));
  late(two, sizeof two);
  DO(clReleaseEvent(event));
  DO(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 2, sizeof three, three, 0, NULL, NULL));
  late(one, sizeof one); /* enqueued before, to a queue that is in order */
  moved(three, sizeof three);
  const size_t zero[3] = {0, 0, 0}, region[3] = {16, 3, 2};
  DO(clEnqueueReadBufferRect(queue, buffer, CL_FALSE, zero, zero, region, 64, 512, 64, 512, four, 0, NULL, NULL));
  unknown();
  DO(clFinish(queue));
  printf("later ");
  moved_box(four, region, 64, 512);
}

static void maps(cl_mem buffer) {
  char* p = map(buffer, CL_TRUE, CL_MAP_READ, 100, 1000);
  moved(p, 1000);
  unmap(buffer, p); /* which moves nothing */
  p = map(buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4096);
  memset(p, 3, 4096);
  moved(p, 4096);
  unmap(buffer, p);
  p = map(buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 4000, 200);
  moved(p, 200);
  p[10] = 4;
  moved(p, 200);
  unmap(buffer, p);
  p = map(buffer, CL_FALSE, CL_MAP_READ, 0, 64);
  unknown();
  DO(clFinish(queue));
  late(p, 64);
  unmap(buffer, p);
  if (clEnqueueUnmapMemObject(queue, buffer, (void*)64, 0, NULL, NULL) == CL_SUCCESS) exit(1);
  unknown();

  cl_int error;
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 16;
  cl_mem image = clCreateImage(context, 0, &format, &desc, NULL, &error);
  check(error, "image");
  const size_t origin[3] = {2, 3, 0}, region[3] = {5, 7, 1}, part[3] = {20, 7, 1};
  size_t row = 0, slice = 0;
  p = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, origin, region, &row, &slice, 0, NULL, NULL, &error);
  check(error, "map image");
  for (size_t y = 0; y < 7; ++y) memset(p + y * row, (int)y, 20);
  moved_box(p, part, row, 0);
  unmap(image, p);
  DO(clReleaseMemObject(image));
}

/* Calls whose data is not there, or cannot be read. */
static void none(cl_mem buffer, char* heap) {
  cl_event event;
  DO(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 100, heap, 0, NULL, &event));
  unknown();
  DO(clWaitForEvents(1, &event));
  late(heap, 100);
  DO(clReleaseEvent(event));
  if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, Bytes, 100, heap, 0, NULL, NULL) == CL_SUCCESS) exit(1);
  unknown();
  /* Readable once, and no more: the first page of two is gone. */
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  DO(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 8192, pages, 0, NULL, NULL));
  moved(pages, 8192);
  munmap(pages, 4096);
  if (clEnqueueWriteBuffer(queue, NULL, CL_TRUE, 0, 8192, pages, 0, NULL, NULL) == CL_SUCCESS) exit(1);
  unknown();
  if (clEnqueueWriteBuffer(NULL, buffer, CL_TRUE, 0, (size_t)-1, heap, 0, NULL, NULL) == CL_SUCCESS) exit(1);
  unknown();
  munmap(pages + 4096, 4096);
}

int main(int argc, char** argv) {
  cl_platform_id platform;
  cl_int error;
  DO(clGetPlatformIDs(1, &platform, NULL));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "context");
  queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "queue");
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, NULL, &error);
  check(error, "buffer");
  char* heap = malloc(Bytes);
  for (int i = 0; i < Bytes; ++i) heap[i] = (char)(i * 7 + i / 256);
  loops(buffer, argc > 1 ? atoi(argv[1]) : 3);
  boxes(buffer, heap);
  creations(heap);
  images(heap);
  svm(heap);
  maps(buffer);
  later(buffer);
  none(buffer, heap);
  DO(clFinish(queue));
  DO(clReleaseMemObject(buffer));
  DO(clReleaseCommandQueue(queue));
  DO(clReleaseContext(context));
  free(heap);
  return 0;
}
