// A program that treats OpenCL badly, in the way that its first argument says. It prints what the calls returned: the
// same bytes with and without a tool in between.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* const Wild = (void*)16;  // points nowhere

// Calls that are refused for their handle: nobody may look at what the other arguments point to.
static int refused(void) {
  cl_int error = 0;
  const size_t huge = (size_t)1 << 40;
  printf("arg %d\n", clSetKernelArg(NULL, 0, 8, Wild));
  printf("arg of no size %d\n", clSetKernelArg(NULL, 0, huge, Wild));
  printf("write %d\n", clEnqueueWriteBuffer(NULL, NULL, CL_TRUE, 0, huge, Wild, 0, NULL, NULL));
  printf("fill %d\n", clEnqueueFillBuffer(NULL, NULL, Wild, 128, 0, huge, 0, NULL, NULL));
  printf("launch %d\n", clEnqueueNDRangeKernel(NULL, NULL, 3, Wild, Wild, Wild, 7, Wild, NULL));
  printf("rect %d\n", clEnqueueReadBufferRect(NULL, NULL, CL_TRUE, Wild, Wild, Wild, 0, 0, 0, 0, Wild, 0, NULL, NULL));
  printf("image %d\n", clEnqueueWriteImage(NULL, NULL, CL_TRUE, Wild, Wild, 0, 0, Wild, 0, NULL, NULL));
  printf("svm %d\n", clEnqueueSVMFree(NULL, 1 << 20, Wild, NULL, NULL, 0, NULL, NULL));
  printf("build %d\n", clBuildProgram(NULL, 1 << 20, Wild, Wild, NULL, NULL));
  printf("compile %d\n", clCompileProgram(NULL, 0, NULL, Wild, 1 << 20, Wild, Wild, NULL, NULL));
  printf("source %d\n", clCreateProgramWithSource(NULL, 1 << 20, Wild, Wild, &error) == NULL);
  printf("binary %d\n", clCreateProgramWithBinary(NULL, 1 << 20, Wild, Wild, Wild, NULL, &error) == NULL);
  printf("il %d\n", clCreateProgramWithIL(NULL, Wild, huge, &error) == NULL);
  printf("kernel %d\n", clCreateKernel(NULL, Wild, &error) == NULL);
  printf("buffer %d\n", clCreateBuffer(NULL, CL_MEM_COPY_HOST_PTR, huge, Wild, &error) == NULL);
  printf("sub-buffer %d\n", clCreateSubBuffer(NULL, 0, CL_BUFFER_CREATE_TYPE_REGION, Wild, &error) == NULL);
  printf("image %d\n", clCreateImage(NULL, 0, Wild, Wild, Wild, &error) == NULL);
  printf("queue %d\n", clCreateCommandQueueWithProperties(NULL, NULL, Wild, &error) == NULL);
  printf("sampler %d\n", clCreateSamplerWithProperties(NULL, Wild, &error) == NULL);
  printf("sub-devices %d\n", clCreateSubDevices(NULL, Wild, 0, NULL, NULL));
  printf("info %d\n", clGetDeviceInfo(NULL, CL_DEVICE_NAME, huge, Wild, NULL));
  printf("exec info %d\n", clSetKernelExecInfo(NULL, CL_KERNEL_EXEC_INFO_SVM_PTRS, huge, Wild));
  return 0;
}

static cl_context context_of(cl_device_id* device) {
  cl_platform_id platform = NULL;
  cl_int error = clGetPlatformIDs(1, &platform, NULL);
  if (error == CL_SUCCESS) error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, device, NULL);
  if (error != CL_SUCCESS) exit(4);
  return clCreateContext(NULL, 1, device, NULL, NULL, &error);
}

// A source of many megabytes, asked for again.
static int gigantic(size_t bytes) {
  cl_device_id device;
  cl_context context = context_of(&device);
  char* text = malloc(bytes + 1);
  memset(text, ' ', bytes);
  memcpy(text, "kernel void f() {}", 18);
  text[bytes] = 0;
  const char* source = text;
  cl_int error = 0;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  size_t size = 0;
  clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &size);
  char* back = calloc(1, size + 1);
  for (int i = 0; i < 3; ++i) error |= clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, back, NULL);
  printf("%d %zu %d\n", error, size, memcmp(back, text, size < bytes ? size : bytes));
  clReleaseProgram(program);
  clReleaseContext(context);
  free(back);
  free(text);
  return 0;
}

static void* short_life(void* unused) {
  cl_uint n = 0;
  clGetPlatformIDs(0, NULL, &n);
  free(malloc(100));
  return unused;
}

static int many_threads(long count) {
  enum { AtOnce = 8 };
  pthread_t threads[AtOnce];
  for (long i = 0; i < count; i += AtOnce) {
    for (int t = 0; t < AtOnce; ++t) {
      if (pthread_create(&threads[t], NULL, short_life, NULL) != 0) return 1;
    }
    for (int t = 0; t < AtOnce; ++t) pthread_join(threads[t], NULL);
  }
  puts("joined");
  return 0;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  const long n = argc > 2 ? atol(argv[2]) : 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (strcmp(how, "refused") == 0) return refused();
  if (strcmp(how, "gigantic") == 0) return gigantic((size_t)n);
  if (strcmp(how, "threads") == 0) return many_threads(n);
  if (strcmp(how, "crash") == 0) return clGetPlatformIDs(1, Wild, NULL);
  return 2;
}
