/* Programs that are recorded and replayed. Usage: replayed KIND, or replayed loop N
 *
 * every    each way of moving data: writes, copies at creation, memory used in place, maps, reads that wait and not
 * address  a kernel that writes where its buffer lies: rarely the same twice
 * crash    a kernel that writes through a wild pointer, and takes a driver on the host with it
 * threads  two threads; the second needs what the first makes, and the first waits for the second's user event
 * loop     N launches of a kernel that does nothing
 * picture  a kernel with images, a sampler and a pointer into shared virtual memory
 * blank    a buffer that is read and mapped before anybody has written it, and shared virtual memory
 * gated    a write and a launch that wait for a user event, which is set later
 * refused  contexts of devices that are not there: some drivers give a handle all the same
 * includes a kernel whose source is in files, found by a relative -I; and the question for the program's binary
 */
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* const source =
    "typedef struct { int first; int by[3]; } Step;\n"
    "kernel void stir(global float* a, global const int* b, float k, local float* t, constant float4* v, Step s) {\n"
    "  size_t i = get_global_id(0);\n"
    "  t[get_local_id(0)] = a[i];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  a[i] = t[get_local_size(0) - 1 - get_local_id(0)] * k + b[i] + v[0].x + s.by[i % 3];\n"
    "}\n"
    "kernel void where_is(global ulong* a) { a[get_global_id(0)] = (ulong)a; }\n"
    "kernel void wild(global int* a) { *(global int*)(a[0] + (ulong)8) = 1; }\n"
    "kernel void none(global int* a) { if (get_global_id(0) > 1000000) a[0] = 1; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_device_id device;

static void start(void) {
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) exit(4);
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) exit(4);
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, NULL);
  if (clBuildProgram(program, 1, &device, "-DUNUSED=1", NULL, NULL) != CL_SUCCESS) exit(4);
}

enum { N = 1200 };

static int every(void) {
  float* a = malloc(N * sizeof *a);
  int* b = malloc(N * sizeof *b);
  static float v[4] __attribute__((aligned(64))) = {1.5f, 2, 3, 4};
  for (int i = 0; i < N; ++i) a[i] = (float)i * 0.5f, b[i] = 3 * i;
  cl_kernel stir = clCreateKernel(program, "stir", NULL);
  cl_mem ab = clCreateBuffer(context, CL_MEM_READ_WRITE, N * 4, NULL, NULL);
  cl_mem bb = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, N * 4, b, NULL);
  cl_mem vb = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof v, v, NULL);
  const float k = 1.25f;
  const struct { int first, by[3]; } step = {6, {7, 8, 9}};
  clEnqueueWriteBuffer(queue, ab, CL_FALSE, 0, N * 4, a, 0, NULL, NULL);
  clFinish(queue);
  clSetKernelArg(stir, 0, sizeof ab, &ab);
  clSetKernelArg(stir, 1, sizeof bb, &bb);
  clSetKernelArg(stir, 2, sizeof k, &k);
  clSetKernelArg(stir, 3, 12 * sizeof(float), NULL);
  clSetKernelArg(stir, 4, sizeof vb, &vb);
  clSetKernelArg(stir, 5, sizeof step, &step);
  const size_t global = N, local = 12;
  for (int i = 0; i < 5; ++i) clEnqueueNDRangeKernel(queue, stir, 1, NULL, &global, &local, 0, NULL, NULL);
  float* m = clEnqueueMapBuffer(queue, ab, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 400, 800, 0, NULL, NULL, NULL);
  for (int i = 0; i < 200; ++i) m[i] = m[i] / 3 + (float)i;
  clEnqueueUnmapMemObject(queue, ab, m, 0, NULL, NULL);
  const size_t buffer_origin[3] = {16, 1, 0}, host_origin[3] = {0, 2, 0}, region[3] = {32, 4, 2};
  char* box = calloc(1, 64 * 8 * 2);
  clEnqueueReadBufferRect(queue, ab, CL_TRUE, buffer_origin, host_origin, region, 64, 512, 64, 512, box, 0, NULL, NULL);
  clEnqueueNDRangeKernel(queue, stir, 1, NULL, &global, &local, 0, NULL, NULL);
  cl_event read;
  clEnqueueReadBuffer(queue, ab, CL_FALSE, 0, N * 4, a, 0, NULL, &read);
  clWaitForEvents(1, &read);
  printf("%g %g\n", a[1], a[N - 1]);
  return 0;
}

static int launch(const char* name, size_t global, int times, size_t bytes) {
  cl_kernel kernel = clCreateKernel(program, name, NULL);
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
  const int pattern = 0;
  unsigned long result = 0;
  clEnqueueFillBuffer(queue, a, &pattern, sizeof pattern, 0, bytes, 0, NULL, NULL);
  clSetKernelArg(kernel, 0, sizeof a, &a);
  for (int i = 0; i < times; ++i) {
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
    clFinish(queue);
  }
  clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof result, &result, 0, NULL, NULL);
  return 0;
}

static int includes(void) {
  const char* text = "#include \"part/kernel.h\"\n";
  cl_program included = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
  if (clBuildProgram(included, 1, &device, "-DSTEP=3 -I headers", NULL, NULL) != CL_SUCCESS) return 4;
  size_t bytes = 0;
  clGetProgramInfo(included, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL);
  unsigned char* binary = malloc(bytes);
  clGetProgramInfo(included, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
  free(binary);
  int a[4] = {1, 2, 3, 4};
  const size_t global = 4;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof a, a, NULL);
  cl_kernel kernel = clCreateKernel(included, "add", NULL);
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof a, a, 0, NULL, NULL);
  return a[3] == 107 ? 0 : 1;
}

static int picture(void) {
  enum { Side = 16, Skipped = 4 };
  const char* text =
      "kernel void show(read_only image2d_t a, sampler_t s, write_only image2d_t b, global int* c, float k) {\n"
      "  int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
      "  float4 v = read_imagef(a, s, (float2)(p.x + 1.5f, p.y + 0.5f));\n"
      "  write_imagef(b, p, v * k);\n"
      "  c[p.y * 16 + p.x] += (int)(v.x * 255.0f + 0.5f);\n"
      "}\n";
  cl_program shown = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
  if (clBuildProgram(shown, 1, &device, "", NULL, NULL) != CL_SUCCESS) return 77;
  const cl_image_format format = {CL_RGBA, CL_UNORM_INT8}, floats = {CL_RGBA, CL_FLOAT};
  const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = Side, .image_height = Side};
  unsigned char a[Side * Side * 4];
  float b[Side * Side * 4];
  for (int i = 0; i < Side * Side * 4; ++i) a[i] = (unsigned char)(i * 7);
  cl_mem from = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &shape, a, NULL);
  cl_mem to = clCreateImage(context, CL_MEM_WRITE_ONLY, &floats, &shape, NULL, NULL);
  int* c = clSVMAlloc(context, CL_MEM_READ_WRITE, (Side * Side + Skipped) * sizeof *c, 0);
  cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, NULL);
  if (!from || !to || !c || !sampler) return 77;
  const int zero = 0;
  const float k = 2;
  clEnqueueSVMMemFill(queue, c, &zero, sizeof zero, (Side * Side + Skipped) * sizeof *c, 0, NULL, NULL);
  cl_kernel kernel = clCreateKernel(shown, "show", NULL);
  clSetKernelArg(kernel, 0, sizeof from, &from);
  clSetKernelArg(kernel, 1, sizeof sampler, &sampler);
  clSetKernelArg(kernel, 2, sizeof to, &to);
  clSetKernelArgSVMPointer(kernel, 3, c + Skipped);
  clSetKernelArg(kernel, 4, sizeof k, &k);
  const size_t global[2] = {Side, Side}, origin[3] = {0, 0, 0}, region[3] = {Side, Side, 1};
  clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL);
  return clEnqueueReadImage(queue, to, CL_TRUE, origin, region, 0, 0, b, 0, NULL, NULL) == CL_SUCCESS ? 0 : 1;
}

enum { Bytes = 4096 };

static int blank_block(int value) {
  const int before = (int)getpid() + value;
  void* filled = clSVMAlloc(context, CL_MEM_READ_WRITE, Bytes, 0);
  if (!filled) return 4;
  clEnqueueSVMMemFill(queue, filled, &before, sizeof before, Bytes, 0, NULL, NULL);
  clFinish(queue);
  clSVMFree(context, filled);
  unsigned char* block = clSVMAlloc(context, CL_MEM_READ_WRITE, Bytes, 0);
  clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, block, Bytes, 0, NULL, NULL);
  memset(block, value, Bytes);
  clEnqueueSVMUnmap(queue, block, 0, NULL, NULL);
  clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, block, Bytes, 0, NULL, NULL);
  const int wrong = block[Bytes - 1] != value;
  clEnqueueSVMUnmap(queue, block, 0, NULL, NULL);
  clFinish(queue);
  clSVMFree(context, block);
  return wrong;
}

static int blank(void) {
  unsigned char a[Bytes];
  for (int i = 0; i < 4; ++i) {
    cl_mem filled = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, NULL, NULL);
    const int value = (int)(getpid() + i);  /* what the next one may find there */
    clEnqueueFillBuffer(queue, filled, &value, sizeof value, 0, Bytes, 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(filled);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, Bytes, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, Bytes, a, 0, NULL, NULL);
    void* p = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, Bytes, 0, NULL, NULL, NULL);
    memset(p, i, Bytes);
    clEnqueueUnmapMemObject(queue, buffer, p, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, Bytes, a, 0, NULL, NULL);
    clReleaseMemObject(buffer);
    const int wrong = blank_block(i);
    if (wrong) return wrong;
  }
  return a[9] == 3 ? 0 : 1;
}

static int gated(void) {
  int a[64] = {5};
  const size_t global = 64;
  cl_event gate = clCreateUserEvent(context, NULL), written;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof a, NULL, NULL);
  cl_kernel kernel = clCreateKernel(program, "none", NULL);
  clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof a, a, 1, &gate, &written);
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
  clFlush(queue);
  clSetUserEventStatus(gate, CL_COMPLETE);
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof a, a, 0, NULL, NULL);
  printf("%d\n", a[0]);
  return 0;
}

static int refused(void) {
  const cl_device_type types[] = {CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_ACCELERATOR};
  for (int i = 0; i < 2; ++i) {
    cl_int code = 0;
    cl_context made = clCreateContextFromType(NULL, types[i], NULL, NULL, &code);
    if (made) clReleaseContext(made);
  }
  return 0;
}

static cl_mem shared;
static cl_event told;
static pthread_barrier_t made;

static void* second(void* unused) {
  int data[64];
  pthread_barrier_wait(&made);
  for (int i = 0; i < 64; ++i) data[i] = i * i;
  cl_command_queue own = clCreateCommandQueue(context, device, 0, NULL);
  clEnqueueWriteBuffer(own, shared, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL);
  usleep(20000);
  clSetUserEventStatus(told, CL_COMPLETE);
  clReleaseCommandQueue(own);
  return unused;
}

static int threads(void) {
  pthread_t thread;
  int data[64];
  pthread_barrier_init(&made, NULL, 2);
  pthread_create(&thread, NULL, second, NULL);
  shared = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, NULL);
  told = clCreateUserEvent(context, NULL);
  pthread_barrier_wait(&made);
  clEnqueueReadBuffer(queue, shared, CL_TRUE, 0, sizeof data, data, 1, &told, NULL);
  clReleaseMemObject(shared);
  pthread_join(thread, NULL);
  printf("%d\n", data[63]);
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "refused") == 0) return refused();
  start();
  if (strcmp(what, "every") == 0) return every();
  if (strcmp(what, "address") == 0) return launch("where_is", 512, 1, 1 << 24);
  if (strcmp(what, "crash") == 0) return launch("wild", 1, 1, 4096);
  if (strcmp(what, "threads") == 0) return threads();
  if (strcmp(what, "picture") == 0) return picture();
  if (strcmp(what, "blank") == 0) return blank();
  if (strcmp(what, "gated") == 0) return gated();
  if (strcmp(what, "includes") == 0) return includes();
  if (strcmp(what, "loop") == 0 && argc > 2) return launch("none", 1, atoi(argv[2]), 4096);
  return 2;
}
