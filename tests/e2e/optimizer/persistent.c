// A program that tries again whatever fails, so that its data are right in the end whichever single call a driver
// refuses. Prints sums of what it got back, and, with the argument "errors", how often it had to try again. All
// transfers block; waiting.c has those that do not.
//
//   persistent [errors]
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/optimizer/contents.h"

enum { Sizes = 4, MostTries = 20 };
static const size_t Size[Sizes] = {40000, 300000, 3 << 20, 9 << 20};
static int g_again;

// Evaluates the call until it gives CL_SUCCESS.
#define MUST(call)                            \
  do {                                        \
    int tries = 0;                            \
    while ((call) != CL_SUCCESS) {            \
      ++g_again;                              \
      if (++tries == MostTries) {             \
        printf("%s fails for ever\n", #call); \
        exit(1);                              \
      }                                       \
    }                                         \
  } while (0)

static cl_device_id g_device;
static cl_context g_context;
static cl_command_queue g_queue;
static cl_mem g_buffer;

static void there_and_back(const char* what, unsigned char* p, size_t n, unsigned seed) {
  fill(p, n, seed);
  MUST(clEnqueueWriteBuffer(g_queue, g_buffer, CL_TRUE, 5, n, p, 0, NULL, NULL));
  MUST(clFinish(g_queue));
  memset(p, 0, n);
  MUST(clEnqueueReadBuffer(g_queue, g_buffer, CL_TRUE, 5, n, p, 0, NULL, NULL));
  MUST(clFinish(g_queue));
  printf("%s %zu: %016lx\n", what, n, sum(p, n));
}

static void boxes(unsigned char* p) {
  const size_t there[3] = {8, 1, 0}, here[3] = {16, 2, 1}, region[3] = {700, 300, 9};
  fill(p, Size[3], 3);
  MUST(clEnqueueWriteBufferRect(g_queue, g_buffer, CL_TRUE, there, here, region, 800, 800 * 400, 1000, 1000 * 320, p, 0,
                                NULL, NULL));
  MUST(clFinish(g_queue));
  memset(p, 0, Size[3]);
  MUST(clEnqueueReadBufferRect(g_queue, g_buffer, CL_TRUE, there, here, region, 800, 800 * 400, 1000, 1000 * 320, p, 0,
                               NULL, NULL));
  MUST(clFinish(g_queue));
  printf("box: %016lx\n", sum(p, Size[3]));
}

int main(int argc, char** argv) {
  static unsigned char still[9 << 20];
  cl_platform_id platform;
  cl_int err;
  (void)argv;
  MUST(clGetPlatformIDs(1, &platform, NULL));
  MUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &g_device, NULL));
  MUST((g_context = clCreateContext(NULL, 1, &g_device, NULL, NULL, &err), err));
  MUST((g_queue = clCreateCommandQueue(g_context, g_device, 0, &err), err));
  MUST((g_buffer = clCreateBuffer(g_context, CL_MEM_READ_WRITE, 16 << 20, NULL, &err), err));
  for (int round = 0; round < 2; ++round) {
    for (int s = 0; s < Sizes; ++s) {
      unsigned char* p = malloc(Size[s]);
      there_and_back("malloc", p, Size[s], 1);
      free(p);
      there_and_back("static", still, Size[s], 2);
    }
    boxes(still);
  }
  MUST(clReleaseMemObject(g_buffer));
  MUST(clReleaseCommandQueue(g_queue));
  MUST(clReleaseContext(g_context));
  if (argc > 1) printf("again %d\n", g_again);
  return 0;
}
