/* A program that allocates much, and only then loads the library whose memory it transfers.
     late_library PATH ALLOCATIONS BLOCKS BYTES
   Prints a checksum of what came back. */
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  cl_platform_id platform;
  cl_device_id device;
  if (argc != 5) return 2;
  const int blocks = atoi(argv[3]);
  const size_t bytes = (size_t)atol(argv[4]);
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
  for (int i = atoi(argv[2]); i > 0; --i) {
    void* volatile p = malloc(bytes);
    free(p);
  }
  void* library = dlopen(argv[1], RTLD_NOW);
  void* (*block)(size_t) = library ? (void* (*)(size_t))dlsym(library, "late_block") : NULL;
  if (!block) return 3;
  unsigned long sum = 0;
  for (int i = 0; i < blocks; ++i) {
    unsigned char* p = block(bytes);
    memset(p, i, bytes);
    if (clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, p, 0, NULL, NULL) != CL_SUCCESS) return 4;
    memset(p, 0, bytes);
    if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, p, 0, NULL, NULL) != CL_SUCCESS) return 4;
    sum = sum * 31 + p[0] + 256ul * p[bytes - 1];
    free(p);
  }
  printf("%lx\n", sum);
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
