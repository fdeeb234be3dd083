/* A launch-bound loop: launches of one work-item, each waited for, or a thousand at a time.
 *
 *   launches COUNT [each|thousands|turns]
 *
 * turns: two buffers are swapped, and one of them is made again now and then; what is computed depends on every
 * argument of every launch, and on their order.
 * Prints what the loop computed, and on stderr how many nanoseconds an iteration took. Exit status 1: an error; 2: how
 * it was called. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "launches: %s: %d\n", what, error);
  exit(1);
}
#define DO(call) check(call, #call)

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;

static cl_mem new_buffer(cl_ulong value) {
  cl_int error;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof value, &value, &error);
  check(error, "clCreateBuffer");
  return buffer;
}

static void launch(size_t offset) {
  const size_t one = 1;
  DO(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &one, &one, 0, NULL, NULL));
}

static cl_mem count_up(long count, long between) {
  cl_mem sum = new_buffer(0);
  DO(clSetKernelArg(kernel, 0, sizeof sum, &sum));
  for (long i = 0; i < count; ++i) {
    const cl_uint by = (cl_uint)(i % 3);
    DO(clSetKernelArg(kernel, 1, sizeof by, &by));
    launch(0);
    if ((i + 1) % between == 0) DO(clFinish(queue));
  }
  return sum;
}

static cl_mem take_turns(long count) {
  cl_mem into = new_buffer(1), from = new_buffer(2);
  for (long i = 0; i < count; ++i) {
    const cl_uint by = (cl_uint)(i * 2654435761u);
    const cl_uchar shift = (cl_uchar)(i % 61);
    DO(clSetKernelArg(kernel, 0, sizeof into, &into));
    DO(clSetKernelArg(kernel, 1, sizeof by, &by));
    DO(clSetKernelArg(kernel, 2, sizeof from, &from));
    DO(clSetKernelArg(kernel, 3, sizeof shift, &shift));
    launch((size_t)(i % 5));
    if (i % 7 == 0) DO(clFinish(queue));
    if (i % 900 == 899) {
      DO(clFinish(queue));
      DO(clReleaseMemObject(from));
      from = new_buffer((cl_ulong)i);
    }
    cl_mem other = into;
    into = from;
    from = other;
  }
  DO(clReleaseMemObject(into));
  return from;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 0;
  const char* way = argc > 2 ? argv[2] : "each";
  const int turns = !strcmp(way, "turns"), each = !strcmp(way, "each");
  if (count <= 0 || argc > 3 || !(turns || each || !strcmp(way, "thousands"))) {
    fprintf(stderr, "usage: launches COUNT [each|thousands|turns]\n");
    return 2;
  }
  cl_platform_id platform;
  cl_device_id device;
  DO(clGetPlatformIDs(1, &platform, NULL));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  cl_int error;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "clCreateCommandQueue");
  const char* source =
      "kernel void add(global ulong* sum, uint by) { *sum += by; }\n"
      "kernel void stir(global ulong* into, uint by, global const ulong* from, uchar shift) {\n"
      "  *into = rotate(*into, (ulong)shift) * 6364136223846793005UL + *from + by + get_global_id(0);\n"
      "}\n";
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  check(error, "clCreateProgramWithSource");
  DO(clBuildProgram(program, 1, &device, "", NULL, NULL));
  kernel = clCreateKernel(program, turns ? "stir" : "add", &error);
  check(error, "clCreateKernel");
  const double start = now_ns();
  cl_mem result = turns ? take_turns(count) : count_up(count, each ? 1 : 1000);
  DO(clFinish(queue));
  fprintf(stderr, "launches: %.0f ns an iteration\n", (now_ns() - start) / (double)count);
  cl_ulong value = 0;
  DO(clEnqueueReadBuffer(queue, result, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
  printf("%lu\n", (unsigned long)value);
  DO(clReleaseMemObject(result));
  DO(clReleaseKernel(kernel));
  DO(clReleaseProgram(program));
  DO(clReleaseCommandQueue(queue));
  DO(clReleaseContext(context));
  return 0;
}
