/* Writes arrays that it makes by a formula, and prints "HASH BYTES" (as programs/contents.c does) before each write.
 *
 * Usage: moved_data same|other N BYTES     the same array, or another one each time
 *        moved_data threads N BYTES        four threads, each with arrays of its own
 *        moved_data fork N BYTES           other; and a child that was forked before does the same
 *        moved_data build SOURCE OPTIONS   moves nothing
 *        moved_data shared N BYTES         N launches that double what is in SVM and in memory that a buffer uses in
 *                                          place; says what is in both before each of them. Then two more, of which
 *                                          one does not wait for the other
 */
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { Threads = 4 };
static int count;
static size_t bytes;
static int same;

static void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "moved_data: %s: %d\n", what, error);
  exit(1);
}

/* Nothing that could be packed. */
static void fill(unsigned char* p, unsigned which) {
  unsigned long long state = which + 1;
  for (size_t i = 0; i < bytes; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    p[i] = (unsigned char)(state >> 56);
  }
}

static void say(const unsigned char* p) {
  unsigned long long h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 0x100000001b3ull;
  char line[64];
  const int n = snprintf(line, sizeof line, "%016llx %zu\n", h, bytes);
  if (write(1, line, (size_t)n) != n) exit(1);
}

static cl_command_queue start(cl_context* context, cl_device_id* device) {
  cl_platform_id platform;
  cl_int error;
  check(clGetPlatformIDs(1, &platform, NULL), "platform");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, device, NULL), "device");
  *context = clCreateContext(NULL, 1, device, NULL, NULL, &error);
  check(error, "context");
  cl_command_queue queue = clCreateCommandQueue(*context, *device, 0, &error);
  check(error, "queue");
  return queue;
}

static void* move(void* first) {
  cl_int error;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue = start(&context, &device);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  check(error, "buffer");
  unsigned char* data = malloc(bytes);
  for (int i = 0; i < count; ++i) {
    if (i == 0 || !same) {
      fill(data, *(unsigned*)first + (unsigned)i);
      say(data);
    }
    check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL), "write");
  }
  free(data);
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return NULL;
}

static int build(const char* source, const char* options) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  check(clGetPlatformIDs(1, &platform, NULL), "platform");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "context");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  check(error, "program");
  check(clBuildProgram(program, 1, &device, options, NULL, NULL), "build");
  return 0;
}

static void launch_shared(cl_command_queue queue, cl_kernel kernel) {
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &bytes, NULL, 0, NULL, NULL), "launch");
}

static int shared(void) {
  cl_int error;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue = start(&context, &device);
  const char* source = "kernel void twice(global uchar* a, global uchar* b) {"
                       "  a[get_global_id(0)] *= 2; b[get_global_id(0)] *= 2; }";
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  check(error, "program");
  check(clBuildProgram(program, 1, &device, NULL, NULL, NULL), "build");
  cl_kernel kernel = clCreateKernel(program, "twice", &error);
  check(error, "kernel");
  unsigned char* fine = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, 0);
  if (!fine) return 77;
  unsigned char* used = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  memset(used, 1, bytes);
  say(used); /* as the buffer is made */
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, used, &error);
  check(error, "buffer");
  check(clSetKernelArgSVMPointer(kernel, 0, fine), "argument 0");
  check(clSetKernelArg(kernel, 1, sizeof buffer, &buffer), "argument 1");
  for (int i = 0; i < count; ++i) {
    fill(fine, (unsigned)i);
    say(fine);
    say(used); /* doubled by the kernel each time, until it is zero */
    launch_shared(queue, kernel);
    check(clFinish(queue), "finish");
  }
  launch_shared(queue, kernel);
  launch_shared(queue, kernel);
  check(clFinish(queue), "finish");
  clReleaseMemObject(buffer);
  clSVMFree(context, fine);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  if (strcmp(argv[1], "build") == 0) return build(argv[2], argv[3]);
  count = atoi(argv[2]);
  bytes = strtoul(argv[3], NULL, 0);
  same = strcmp(argv[1], "same") == 0;
  if (strcmp(argv[1], "shared") == 0) return shared();
  unsigned first[Threads];
  for (unsigned i = 0; i < Threads; ++i) first[i] = i * 1000;
  if (strcmp(argv[1], "threads") == 0) {
    cl_platform_id platform; /* loaders are not made to be used by several threads first */
    cl_device_id device;
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    pthread_t threads[Threads];
    for (int i = 0; i < Threads; ++i) pthread_create(&threads[i], NULL, move, &first[i]);
    for (int i = 0; i < Threads; ++i) pthread_join(threads[i], NULL);
    return 0;
  }
  if (strcmp(argv[1], "fork") == 0) { /* before OpenCL is used, so that both may use it */
    const pid_t child = fork();
    move(&first[0]);
    if (child == 0) return 0;
    int state = 1;
    return waitpid(child, &state, 0) == child && state == 0 ? 0 : 1;
  }
  move(&first[0]);
  return 0;
}
