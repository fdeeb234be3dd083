/* One kernel launch, as it was recorded: sets the recorded arguments, launches, and compares what the kernel wrote.
 *
 *   launch [--device NUMBER|PATTERN] [--repeat N] [--tolerance X] [--list]
 *
 * Exit status: 0 the results are the recorded ones, 1 they differ, 2 it could not be run.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum argument_kind { BUFFER, VALUE, LOCAL };
enum element { BYTE, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE };
static const size_t element_bytes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};

struct buffer {
  const char* name; /* data/NAME.before is what it holds before the launch, data/NAME.after what it held after it */
  size_t bytes;
  enum element element;
};
struct argument {
  cl_uint index;
  enum argument_kind kind;
  size_t bytes;
  const void* value; /* of a VALUE */
  int buffer;        /* of a BUFFER: its place in `buffers` */
};

#include "launch.h"

static void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: error %d\n", what, code);
  exit(2);
}

static unsigned char* read_file(const char* path, size_t* bytes) {
  FILE* f = fopen(path, "rb");
  long end = -1;
  if (f && fseek(f, 0, SEEK_END) == 0) end = ftell(f);
  if (end < 0) {
    fprintf(stderr, "%s: cannot be read; run this where main.c lies\n", path);
    exit(2);
  }
  rewind(f);
  unsigned char* all = malloc((size_t)end + 1);
  *bytes = all ? fread(all, 1, (size_t)end, f) : 0;
  if (!all || *bytes != (size_t)end) exit(2);
  all[end] = 0;
  fclose(f);
  return all;
}

static unsigned char* read_data(const struct buffer* b, const char* when) {
  char path[256];
  size_t bytes = 0;
  snprintf(path, sizeof path, "data/%s.%s", b->name, when);
  unsigned char* data = read_file(path, &bytes);
  if (bytes != b->bytes) {
    fprintf(stderr, "%s: %zu bytes instead of %zu\n", path, bytes, b->bytes);
    exit(2);
  }
  return data;
}

static cl_device_id find_device(const char* wanted, int list) {
  cl_platform_id platforms[32];
  cl_uint platform_count = 0, number = 0;
  check(clGetPlatformIDs(32, platforms, &platform_count), "clGetPlatformIDs");
  for (cl_uint p = 0; p < platform_count && p < 32; ++p) {
    cl_device_id devices[64];
    cl_uint device_count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &device_count) != CL_SUCCESS) continue;
    for (cl_uint d = 0; d < device_count && d < 64; ++d, ++number) {
      char name[512] = "", *end = NULL;
      clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
      if (list) {
        printf("%u: %s\n", number, name);
        continue;
      }
      const unsigned long n = wanted ? strtoul(wanted, &end, 10) : 0;
      const int by_number = wanted && *wanted && *end == 0;
      if (!wanted || (by_number ? n == number : strstr(name, wanted) != NULL)) {
        printf("device: %s\n", name);
        return devices[d];
      }
    }
  }
  if (list) exit(0);
  fprintf(stderr, "no such device; --list names them\n");
  exit(2);
}

static double half_value(unsigned bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  const double v = exponent == 31 ? (fraction ? NAN : INFINITY)
                   : exponent     ? ldexp(fraction | 0x400, exponent - 25)
                                  : ldexp(fraction, -24);
  return bits & 0x8000 ? -v : v;
}

static double number_at(const unsigned char* p, enum element e) {
#define AS(type) { type v; memcpy(&v, p, sizeof v); return (double)v; }
  switch (e) {
    case CHAR: AS(signed char)
    case SHORT: AS(cl_short)
    case USHORT: AS(cl_ushort)
    case INT: AS(cl_int)
    case UINT: AS(cl_uint)
    case LONG: AS(cl_long)
    case ULONG: AS(cl_ulong)
    case FLOAT: AS(float)
    case DOUBLE: AS(double)
    case HALF: { cl_ushort v; memcpy(&v, p, sizeof v); return half_value(v); }
    default: return *p;
  }
#undef AS
}

static int same(const unsigned char* a, const unsigned char* b, enum element e, double tolerance) {
  if (memcmp(a, b, element_bytes[e]) == 0) return 1;
  const double x = number_at(a, e), y = number_at(b, e);
  return (x != x && y != y) || (tolerance > 0 && fabs(x - y) <= tolerance);
}

static int compare(const struct buffer* b, const unsigned char* got, double tolerance) {
  unsigned char* expected = read_data(b, "after");
  const size_t step = element_bytes[b->element];
  size_t differing = 0, first = 0;
  for (size_t at = 0; at + step <= b->bytes; at += step) {
    if (same(expected + at, got + at, b->element, tolerance)) continue;
    if (differing++ == 0) first = at;
  }
  if (differing)
    printf("%s: %zu of %zu elements differ, the first at byte %zu: expected %.17g, got %.17g\n", b->name, differing,
           b->bytes / step, first, number_at(expected + first, b->element), number_at(got + first, b->element));
  free(expected);
  return differing != 0;
}

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  const char* wanted = NULL;
  long repeat = 1;
  double tolerance = 0;
  int list = 0;
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--list") == 0) list = 1;
    else if (strcmp(argv[i], "--device") == 0 && value) wanted = argv[++i];
    else if (strcmp(argv[i], "--repeat") == 0 && value) repeat = strtol(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--tolerance") == 0 && value) tolerance = strtod(argv[++i], NULL);
    else {
      fprintf(stderr, "usage: %s [--device NUMBER|PATTERN] [--repeat N] [--tolerance X] [--list]\n", argv[0]);
      return 2;
    }
  }
  cl_int code = 0;
  cl_device_id device = find_device(wanted, list);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  size_t length = 0;
  unsigned char* text = read_file("kernel.cl", &length);
  cl_program program = clCreateProgramWithSource(context, 1, (const char**)&text, &length, &code);
  check(code, "clCreateProgramWithSource");
  code = clBuildProgram(program, 1, &device, BUILD_OPTIONS, NULL, NULL);
  if (code != CL_SUCCESS) {
    static char log[1 << 16];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    fprintf(stderr, "%s\n", log);
    check(code, "clBuildProgram");
  }
  cl_kernel kernel = clCreateKernel(program, KERNEL_NAME, &code);
  check(code, "clCreateKernel");

  cl_mem memory[BUFFER_COUNT + 1] = {0};
  unsigned char* before[BUFFER_COUNT + 1] = {0};
  for (int i = 0; i < BUFFER_COUNT; ++i) {
    before[i] = read_data(&buffers[i], "before");
    memory[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, buffers[i].bytes, NULL, &code);
    check(code, "clCreateBuffer");
  }
  for (int i = 0; i < ARGUMENT_COUNT; ++i) {
    const struct argument* a = &arguments[i];
    const void* value = a->kind == BUFFER ? &memory[a->buffer] : a->kind == VALUE ? a->value : NULL;
    check(clSetKernelArg(kernel, a->index, a->kind == BUFFER ? sizeof(cl_mem) : a->bytes, value), "clSetKernelArg");
  }
  double best = -1;
  for (long n = 0; n < (repeat < 1 ? 1 : repeat); ++n) {
    for (int i = 0; i < BUFFER_COUNT; ++i)
      check(clEnqueueWriteBuffer(queue, memory[i], CL_TRUE, 0, buffers[i].bytes, before[i], 0, NULL, NULL),
            "clEnqueueWriteBuffer");
    const double began = now();
    check(clEnqueueNDRangeKernel(queue, kernel, WORK_DIM, global_offset, global_size, local_size, 0, NULL, NULL),
          "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");
    const double took = now() - began;
    if (best < 0 || took < best) best = took;
  }
  int differs = 0;
  for (int i = 0; i < BUFFER_COUNT; ++i) {
    unsigned char* got = malloc(buffers[i].bytes);
    check(got ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc");
    check(clEnqueueReadBuffer(queue, memory[i], CL_TRUE, 0, buffers[i].bytes, got, 0, NULL, NULL),
          "clEnqueueReadBuffer");
    differs |= compare(&buffers[i], got, tolerance);
    free(got);
  }
  printf("%s: %.3f ms\n%s\n", KERNEL_NAME, 1e3 * best, differs ? "DIFFERS" : "the recorded results");
  return differs;
}
