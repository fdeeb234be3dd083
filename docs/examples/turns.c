/* Counts the turns of a path: a program whose result depends on the driver (docs/replay.md says why).
 * cc turns.c -o turns -lOpenCL */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

enum { Turns = 1000, Points = Turns + 2, Steps = 4 };

static const char* const source =
    "kernel void move(global float2* p, float2 by) { p[get_global_id(0)] += by; }\n"
    "kernel void turn(global const float2* p, global int* left) {\n"
    "  size_t i = get_global_id(0);\n"
    "  float2 a = p[i + 1] - p[i], b = p[i + 2] - p[i + 1];\n"
    "  float cross = a.x * b.y - a.y * b.x;\n"
    "  left[i] = cross > 0 ? 1 : cross < 0 ? -1 : 0;\n"
    "}\n"
    "kernel void count(global const int* left, global int* sums) {\n"
    "  if (left[get_global_id(0)] > 0) atomic_inc(&sums[0]);\n"
    "  if (left[get_global_id(0)] == 0) atomic_inc(&sums[1]);\n"
    "}\n";

static cl_command_queue queue;
static cl_context context;
static cl_program program;

static cl_kernel kernel(const char* name, cl_mem first) {
  cl_kernel k = clCreateKernel(program, name, NULL);
  clSetKernelArg(k, 0, sizeof first, &first);
  return k;
}

static void launch(cl_kernel k, size_t size, size_t second_bytes, const void* second) {
  clSetKernelArg(k, 1, second_bytes, second);
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &size, NULL, 0, NULL, NULL);
}

int main(void) {
  static cl_float2 path[Points];
  int sums[2] = {0, 0};
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, NULL);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL)) return 1;

  for (int i = 0; i < Points; ++i) /* straight on, with a step to the side once in a while */
    path[i].x = 0.1f * (float)i, path[i].y = 0.3f * (float)i + (i % 7 == 0 ? 0.5f : 0);
  cl_mem points = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof path, path, NULL);
  cl_mem left = clCreateBuffer(context, CL_MEM_READ_WRITE, Turns * sizeof(int), NULL, NULL);
  cl_mem result = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof sums, sums, NULL);

  cl_kernel move = kernel("move", points);
  for (int i = 0; i < Steps; ++i) {
    const cl_float2 by = {{0.25f * (float)i, -0.5f}};
    launch(move, Points, sizeof by, &by);
  }
  launch(kernel("turn", points), Turns, sizeof left, &left);
  launch(kernel("count", left), Turns, sizeof result, &result);
  clEnqueueReadBuffer(queue, result, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL);
  printf("%d turns to the left, %d straight on\n", sums[0], sums[1]);
  return 0;
}
