/* A program with one allocation site, whose blocks are transferred as its arguments say:
     idle N BYTES    N blocks, one after the other, never transferred
     busy N BYTES    N blocks, each written to the device and read back
     again N BYTES   one block, written and read N times
   Prints a checksum of what came back. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_command_queue queue;
static cl_mem buffer;
static unsigned long sum;

static void* block(size_t bytes) {
  void* p = malloc(bytes);
  if (!p) exit(1);
  return p;
}

static void there_and_back(unsigned char* p, size_t bytes, int seed) {
  memset(p, seed, bytes);
  if (clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, p, 0, NULL, NULL) != CL_SUCCESS) exit(1);
  memset(p, 0, bytes);
  if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, p, 0, NULL, NULL) != CL_SUCCESS) exit(1);
  sum = sum * 31 + p[0] + 256ul * p[bytes - 1];
}

static void work(const char* how, int times, size_t bytes) {
  void* volatile kept = NULL; /* keeps malloc and free from being optimized away */
  for (int i = 0; i < times; ++i) {
    if (strcmp(how, "again") != 0 || i == 0) kept = block(bytes);
    if (strcmp(how, "idle") != 0) there_and_back(kept, bytes, i);
    if (strcmp(how, "again") != 0 || i + 1 == times) free(kept);
  }
}

int main(int argc, char** argv) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 << 20, NULL, NULL);
  for (int i = 1; i + 2 < argc; i += 3) work(argv[i], atoi(argv[i + 1]), (size_t)atol(argv[i + 2]));
  printf("%lx\n", sum);
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
