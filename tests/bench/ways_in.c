// How fast memory gets to a device and back by the ways other than clEnqueueWriteBuffer and clEnqueueReadBuffer:
// objects made from memory (CL_MEM_COPY_HOST_PTR), maps, SVM copies. Each beside plain transfers of pageable and of
// pinned memory in the same run, in GB/s; medians of rounds that take turns. Tells whether staging could gain there.
//
//   ways_in [PLATFORM [DEVICE [ROUNDS]]]     needs nothing but OpenCL 2.0
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MostRounds = 99 };
static cl_context g_context;
static cl_command_queue g_queue;
static size_t g_bytes;
static char *g_pageable, *g_pinned, *g_map;
static cl_mem g_there, g_other, g_pinned_mem;
static void* g_svm;

static void check(cl_int err, const char* what) {
  if (err == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, err);
  exit(4);
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cl_mem make(cl_mem_flags flags, size_t bytes, void* host) {
  cl_int err;
  cl_mem mem = clCreateBuffer(g_context, flags, bytes, host, &err);
  check(err, "clCreateBuffer");
  return mem;
}
static void* map(cl_mem mem, cl_map_flags flags) {
  cl_int err;
  void* p = clEnqueueMapBuffer(g_queue, mem, CL_TRUE, flags, 0, g_bytes, 0, NULL, NULL, &err);
  check(err, "clEnqueueMapBuffer");
  return p;
}
static void unmap(cl_mem mem, void* p) {
  check(clEnqueueUnmapMemObject(g_queue, mem, p, 0, NULL, NULL), "clEnqueueUnmapMemObject");
  check(clFinish(g_queue), "clFinish");
}
static void write_to(cl_mem mem, const void* p) {
  check(clEnqueueWriteBuffer(g_queue, mem, CL_TRUE, 0, g_bytes, p, 0, NULL, NULL), "clEnqueueWriteBuffer");
}
static void read_from(cl_mem mem, void* p) {
  check(clEnqueueReadBuffer(g_queue, mem, CL_TRUE, 0, g_bytes, p, 0, NULL, NULL), "clEnqueueReadBuffer");
}
static void svm_copy(void* to, const void* from) {
  check(clEnqueueSVMMemcpy(g_queue, CL_TRUE, to, from, g_bytes, 0, NULL, NULL), "clEnqueueSVMMemcpy");
}
// The device has it: what a driver does only at the first use is in the time.
static void use(cl_mem mem) {
  check(clEnqueueCopyBuffer(g_queue, mem, g_other, 0, 0, g_bytes, 0, NULL, NULL), "clEnqueueCopyBuffer");
  check(clFinish(g_queue), "clFinish");
}

// --- The ways: each returns the seconds that count ---

static double created(void* host, int used) {
  const double start = now_s();
  cl_mem mem = make(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, g_bytes, host);
  if (used) use(mem);
  const double s = now_s() - start;
  clReleaseMemObject(mem);
  return s;
}
static double created_and_written(void* host, int used) {
  const double start = now_s();
  cl_mem mem = make(CL_MEM_READ_WRITE, g_bytes, NULL);
  write_to(mem, host);
  if (used) use(mem);
  const double s = now_s() - start;
  clReleaseMemObject(mem);
  return s;
}
static double copy_pageable(void) { return created(g_pageable, 0); }
static double copy_pageable_used(void) { return created(g_pageable, 1); }
static double copy_pinned_used(void) { return created(g_pinned, 1); }
static double create_write_pageable(void) { return created_and_written(g_pageable, 0); }
static double create_write_pageable_used(void) { return created_and_written(g_pageable, 1); }
static double create_write_pinned_used(void) { return created_and_written(g_pinned, 1); }

#define TIMED(CALL)                  \
  {                                  \
    const double start = now_s();    \
    CALL;                            \
    return now_s() - start;          \
  }
static double write_pageable(void) TIMED(write_to(g_there, g_pageable))
static double write_pinned(void) TIMED(write_to(g_there, g_pinned))
static double read_pageable(void) TIMED(read_from(g_there, g_pageable))
static double read_pinned(void) TIMED(read_from(g_there, g_pinned))
static double map_to_read(void) {
  const double start = now_s();
  g_map = map(g_there, CL_MAP_READ);
  const double s = now_s() - start;
  unmap(g_there, g_map);
  return s;
}
static double unmap_written(void) {
  g_map = map(g_there, CL_MAP_WRITE_INVALIDATE_REGION);
  memset(g_map, 1, g_bytes);
  const double start = now_s();
  unmap(g_there, g_map);
  return now_s() - start;
}
// Is what a map gives pinned memory? As a source of another transfer it is then as fast.
static double write_mapped(void) {
  g_map = map(g_there, CL_MAP_READ);
  const double start = now_s();
  write_to(g_other, g_map);
  const double s = now_s() - start;
  unmap(g_there, g_map);
  return s;
}
static double svm_from_pageable(void) TIMED(svm_copy(g_svm, g_pageable))
static double svm_from_pinned(void) TIMED(svm_copy(g_svm, g_pinned))
static double svm_to_pageable(void) TIMED(svm_copy(g_pageable, g_svm))
static double svm_to_pinned(void) TIMED(svm_copy(g_pinned, g_svm))
static double svm_map_to_read(void) {
  const double start = now_s();
  check(clEnqueueSVMMap(g_queue, CL_TRUE, CL_MAP_READ, g_svm, g_bytes, 0, NULL, NULL), "clEnqueueSVMMap");
  const double s = now_s() - start;
  check(clEnqueueSVMUnmap(g_queue, g_svm, 0, NULL, NULL), "clEnqueueSVMUnmap");
  check(clFinish(g_queue), "clFinish");
  return s;
}

static const struct {
  const char* name;
  double (*run)(void);
  int svm;
} Ways[] = {{"write pageable", write_pageable, 0},
            {"write pinned", write_pinned, 0},
            {"read pageable", read_pageable, 0},
            {"read pinned", read_pinned, 0},
            {"COPY_HOST_PTR pageable", copy_pageable, 0},
            {"COPY_HOST_PTR pageable, used", copy_pageable_used, 0},
            {"COPY_HOST_PTR pinned, used", copy_pinned_used, 0},
            {"create, write pageable", create_write_pageable, 0},
            {"create, write pageable, used", create_write_pageable_used, 0},
            {"create, write pinned, used", create_write_pinned_used, 0},
            {"map to read", map_to_read, 0},
            {"unmap what was written", unmap_written, 0},
            {"write from a map", write_mapped, 0},
            {"SVM from pageable", svm_from_pageable, 1},
            {"SVM from pinned", svm_from_pinned, 1},
            {"SVM to pageable", svm_to_pageable, 1},
            {"SVM to pinned", svm_to_pinned, 1},
            {"SVM map to read", svm_map_to_read, 1}};
enum { Count = sizeof Ways / sizeof *Ways };

static int by_size(const void* a, const void* b) {
  const double d = *(const double*)a - *(const double*)b;
  return d < 0 ? -1 : d > 0;
}

static void measure(int rounds) {
  static double seconds[Count][MostRounds];
  g_pageable = malloc(g_bytes);
  if (!g_pageable) exit(4);
  memset(g_pageable, 1, g_bytes);
  g_there = make(CL_MEM_READ_WRITE, g_bytes, NULL);
  g_other = make(CL_MEM_READ_WRITE, g_bytes, NULL);
  g_pinned_mem = make(CL_MEM_ALLOC_HOST_PTR, g_bytes, NULL);
  g_pinned = map(g_pinned_mem, CL_MAP_READ | CL_MAP_WRITE);
  memset(g_pinned, 2, g_bytes);
  g_svm = clSVMAlloc(g_context, CL_MEM_READ_WRITE, g_bytes, 0);
  for (int r = -1; r < rounds; ++r)  // the first does not count
    for (int w = 0; w < Count; ++w) {
      const double s = Ways[w].svm && !g_svm ? 0 : Ways[w].run();
      if (r >= 0) seconds[w][r] = s;
    }
  for (int w = 0; w < Count; ++w) {
    qsort(seconds[w], (size_t)rounds, sizeof(double), by_size);
    const double s = seconds[w][rounds / 2];
    if (s == 0) continue;
    printf("%10zu KiB  %-30s %9.1f us %8.2f GB/s\n", g_bytes >> 10, Ways[w].name, s * 1e6, (double)g_bytes / s / 1e9);
  }
  if (g_svm) clSVMFree(g_context, g_svm);
  unmap(g_pinned_mem, g_pinned);
  clReleaseMemObject(g_pinned_mem);
  clReleaseMemObject(g_other);
  clReleaseMemObject(g_there);
  free(g_pageable);
}

int main(int argc, char** argv) {
  const cl_uint platform = argc > 1 ? (cl_uint)atoi(argv[1]) : 0, device = argc > 2 ? (cl_uint)atoi(argv[2]) : 0;
  const int asked = argc > 3 ? atoi(argv[3]) : 15, rounds = asked < 1 ? 1 : asked > MostRounds ? MostRounds : asked;
  cl_platform_id platforms[16];
  cl_device_id devices[16];
  cl_uint count = 0;
  cl_int err;
  char name[256] = "";
  check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
  if (platform >= count) check(CL_INVALID_PLATFORM, "no such platform");
  check(clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, 16, devices, &count), "clGetDeviceIDs");
  if (device >= count) check(CL_INVALID_DEVICE, "no such device");
  clGetDeviceInfo(devices[device], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
  g_context = clCreateContext(NULL, 1, &devices[device], NULL, NULL, &err);
  check(err, "clCreateContext");
  g_queue = clCreateCommandQueueWithProperties(g_context, devices[device], NULL, &err);
  check(err, "clCreateCommandQueueWithProperties");
  printf("%s\n", name);
  for (g_bytes = 64 << 10; g_bytes <= (size_t)256 << 20; g_bytes *= 4) measure(rounds);
  clReleaseCommandQueue(g_queue);
  clReleaseContext(g_context);
  return 0;
}
