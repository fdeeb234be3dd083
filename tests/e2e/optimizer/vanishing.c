// A program whose device may vanish at any call: prints what each call gave, up to the first failure, and then what the
// releases gave. What it read is compared only when every call that leads to it succeeded. Its memory is given back
// to the system at once, so that whoever still writes there is found.
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/optimizer/contents.h"

enum { Sizes = 2 };
static const size_t Size[Sizes] = {40000, 3 << 20};

static cl_device_id g_device;
static cl_context g_context;
static cl_command_queue g_queue;
static cl_mem g_buffer;
static unsigned char g_expected[3 << 20];

static int good(const char* what, cl_int code) {
  printf("%s: %d\n", what, code);
  return code == CL_SUCCESS;
}

static int opened(void) {
  cl_platform_id platform;
  cl_int err;
  return good("platform", clGetPlatformIDs(1, &platform, NULL)) &&
         good("device", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &g_device, NULL)) &&
         (g_context = clCreateContext(NULL, 1, &g_device, NULL, NULL, &err), good("context", err)) &&
         (g_queue = clCreateCommandQueue(g_context, g_device, 0, &err), good("queue", err)) &&
         (g_buffer = clCreateBuffer(g_context, CL_MEM_READ_WRITE, 4 << 20, NULL, &err), good("buffer", err));
}

static int waited(cl_event event) {
  const int ok = good("wait", clWaitForEvents(1, &event));
  return good("event", clReleaseEvent(event)) && ok;
}

static int moved(unsigned char* p, size_t n, unsigned seed) {
  cl_event event = NULL;
  fill(p, n, seed);
  if (!good("write", clEnqueueWriteBuffer(g_queue, g_buffer, CL_TRUE, 5, n, p, 0, NULL, NULL))) return 0;
  memset(p, 0, n);
  if (!good("read", clEnqueueReadBuffer(g_queue, g_buffer, CL_FALSE, 5, n, p, 0, NULL, &event))) return 0;
  if (!waited(event)) return 0;
  fill(g_expected, n, seed);
  if (memcmp(p, g_expected, n) != 0) {
    printf("wrong of %zu\n", n);
    return 0;
  }
  if (!good("later", clEnqueueWriteBuffer(g_queue, g_buffer, CL_FALSE, 5, n, p, 0, NULL, &event))) return 0;
  if (!waited(event)) return 0;
  return good("finish", clFinish(g_queue));
}

int main(void) {
  static unsigned char still[3 << 20];
  int ok = opened();
  for (int s = 0; ok && s < Sizes; ++s) {
    unsigned char* p = malloc(Size[s]);
    ok = moved(p, Size[s], 1) && moved(p, Size[s], 2) && moved(still, Size[s], 3);
    free(p);
  }
  if (g_buffer) good("release buffer", clReleaseMemObject(g_buffer));
  if (g_queue) good("release queue", clReleaseCommandQueue(g_queue));
  if (g_context) good("release context", clReleaseContext(g_context));
  return ok ? 0 : 1;
}
