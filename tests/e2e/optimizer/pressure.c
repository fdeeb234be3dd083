/* A program that does what its standard input says, a line at a time, so that one can look at it in between:
     fill N BYTES   N blocks, each written to the device and read back; then all are freed
     grow BYTES     takes that much memory that is no block, touches it and keeps it
     turn BYTES     a block, written and read back, freed; 25 ms after the line before
   Says its process number first; after each line a checksum of all that came back. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { Most = 64, Buffer = 16 << 20 };
static cl_command_queue queue;
static cl_mem buffer;
static unsigned long sum;

static unsigned char* there_and_back(size_t bytes, int seed) {
  unsigned char* p = malloc(bytes);
  if (!p || bytes > Buffer) exit(1);
  memset(p, seed, bytes);
  if (clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, p, 0, NULL, NULL) != CL_SUCCESS) exit(1);
  memset(p, 0, bytes);
  if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, p, 0, NULL, NULL) != CL_SUCCESS) exit(1);
  sum = sum * 31 + p[0] + 256ul * p[bytes - 1];
  return p;
}

static void fill(int count, size_t bytes) {
  unsigned char* block[Most];
  if (count > Most) exit(1);
  for (int i = 0; i < count; ++i) block[i] = there_and_back(bytes, i + 1);
  for (int i = 0; i < count; ++i) free(block[i]);
}

static void grow(size_t bytes) {
  void* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) exit(1);
  memset(p, 1, bytes);
}

static void turn(size_t bytes) {
  const struct timespec pause = {0, 25000000}; /* the kernel is asked every 20 ms at most */
  nanosleep(&pause, NULL);
  free(there_and_back(bytes, 77));
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, Buffer, NULL, NULL);
  printf("%d\n", (int)getpid());
  fflush(stdout);
  char line[128];
  int count;
  size_t bytes;
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "fill %d %zu", &count, &bytes) == 2) fill(count, bytes);
    if (sscanf(line, "grow %zu", &bytes) == 1) grow(bytes);
    if (sscanf(line, "turn %zu", &bytes) == 1) turn(bytes);
    printf("%lx\n", sum);
    fflush(stdout);
  }
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
