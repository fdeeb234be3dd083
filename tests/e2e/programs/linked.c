/* A program that is linked by a call that does not wait, and whose callback makes its kernel before that call returns.
 *
 * Usage: linked. Prints what the kernel wrote.
 */
#include <CL/cl.h>
#include <stdio.h>
#include <unistd.h>

static const char* const source = "kernel void seven(global int* a) { a[0] = 7; }\n";
static cl_kernel volatile kernel;

static void CL_CALLBACK on_linked(cl_program program, void* unused) {
  (void)unused;
  kernel = clCreateKernel(program, "seven", NULL);
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  int got = 0;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 4;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 4;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
  cl_program part = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, NULL);
  if (clCompileProgram(part, 1, &device, NULL, 0, NULL, NULL, NULL, NULL) != CL_SUCCESS) return 4;
  cl_program program = clLinkProgram(context, 1, &device, NULL, 1, &part, on_linked, NULL, NULL);
  for (int i = 0; i < 1000 && !kernel; ++i) usleep(10000);
  if (!program || !kernel) return 4;
  cl_kernel seven = kernel;
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof got, NULL, NULL);
  const size_t one = 1;
  clSetKernelArg(seven, 0, sizeof a, &a);
  clEnqueueNDRangeKernel(queue, seven, 1, NULL, &one, NULL, 0, NULL, NULL);
  clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL);
  printf("%d\n", got);
  return got != 7;
}
