/* Memory that the host writes without a call, where a copy is the first command after it.
 *
 * Usage: shared_copies. The program writes fine-grained memory; a copy between other memory comes before the launch
 * that reads it. Then the host writes again, and a copy brings it to the device: no launch follows. Prints two sums.
 */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define ITEMS 1000

static const char* const source =
    "kernel void add(global int* to, global const int* what) { to[get_global_id(0)] += what[get_global_id(0)]; }\n";

static void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "shared_copies: %s: %d\n", what, code);
  exit(1);
}
#define DO(call) check(call, #call)

static long sum_of(const int* values) {
  long sum = 0;
  for (int i = 0; i < ITEMS; ++i) sum += values[i];
  return sum;
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_device_svm_capabilities svm = 0;
  DO(clGetPlatformIDs(1, &platform, NULL));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  if (clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL) != CL_SUCCESS ||
      !(svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER))
    return 77;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, NULL);
  DO(clBuildProgram(program, 1, &device, "-cl-std=CL2.0", NULL, NULL));
  cl_kernel add = clCreateKernel(program, "add", NULL);
  const size_t bytes = ITEMS * sizeof(int), items = ITEMS;
  int* fine = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, 0);
  int* coarse = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
  int* mine = calloc(ITEMS, sizeof(int));
  for (int i = 0; i < ITEMS; ++i) fine[i] = i;
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, coarse, mine, bytes, 0, NULL, NULL));
  DO(clSetKernelArgSVMPointer(add, 0, coarse));
  DO(clSetKernelArgSVMPointer(add, 1, fine));
  DO(clEnqueueNDRangeKernel(queue, add, 1, NULL, &items, NULL, 0, NULL, NULL));
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, mine, coarse, bytes, 0, NULL, NULL));
  printf("%ld\n", sum_of(mine));
  for (int i = 0; i < ITEMS; ++i) fine[i] = 7 * i;
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, coarse, fine, bytes, 0, NULL, NULL));
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, mine, coarse, bytes, 0, NULL, NULL));
  printf("%ld\n", sum_of(mine));
  clSVMFree(context, fine);
  clSVMFree(context, coarse);
  free(mine);
  clReleaseKernel(add);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
