/* Calls every transfer function that the device supports, and prints what each should have moved: counted here by hand,
 * in calls and bytes by direction. A group that the device cannot do is left out.
 *
 * Usage: every_transfer [GROUP...]     (all of them by default)
 */
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum direction { H2D, D2H, D2D };
static unsigned long long g_count[3], g_bytes[3];
static void moved(enum direction d, unsigned long long bytes) {
  ++g_count[d];
  g_bytes[d] += bytes;
}

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "every_transfer: %s: %d\n", what, error);
  exit(1);
}
#define DO(call) check(call, #call)
#define MADE(object) check((object) != NULL ? error : -9999, #object)

static int asked(int argc, char** argv, const char* group) {
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], group) == 0) return 1;
  return argc == 1;
}

static const size_t Zero[3] = {0, 0, 0};
enum { Bytes = 4096 };
static char g_host[Bytes]; /* static data */

static void buffers(void) {
  cl_int error;
  char* heap = malloc(Bytes);
  memset(heap, 1, Bytes);
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Bytes, heap, &error);
  MADE(a);
  moved(H2D, Bytes);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, NULL, &error);
  MADE(b);
  DO(clEnqueueWriteBuffer(queue, a, CL_TRUE, 16, 100, heap + 7, 0, NULL, NULL));
  moved(H2D, 100);
  DO(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 200, g_host, 0, NULL, NULL));
  moved(D2H, 200);
  DO(clEnqueueReadBuffer(queue, a, CL_FALSE, 0, 300, heap, 0, NULL, NULL));
  moved(D2H, 300);
  if (clEnqueueReadBuffer(queue, a, CL_TRUE, Bytes, 300, heap, 0, NULL, NULL) == CL_SUCCESS)
    exit(1); /* moves nothing */
  DO(clEnqueueCopyBuffer(queue, a, b, 0, 64, 400, 0, NULL, NULL));
  moved(D2D, 400);
  const int pattern = 7;
  DO(clEnqueueFillBuffer(queue, b, &pattern, sizeof pattern, 0, 512, 0, NULL, NULL));
  moved(D2D, 512);
  const size_t origin[3] = {4, 1, 0}, region[3] = {10, 3, 2};
  DO(clEnqueueWriteBufferRect(queue, a, CL_TRUE, origin, Zero, region, 64, 512, 0, 0, heap, 0, NULL, NULL));
  moved(H2D, 60);
  DO(clEnqueueReadBufferRect(queue, a, CL_TRUE, origin, Zero, region, 64, 512, 16, 64, heap, 0, NULL, NULL));
  moved(D2H, 60);
  cl_event event;
  DO(clEnqueueMigrateMemObjects(queue, 1, &b, 0, 0, NULL, &event));
  moved(H2D, Bytes);
  DO(clWaitForEvents(1, &event));
  DO(clReleaseEvent(event));
  DO(clFinish(queue));
  DO(clReleaseMemObject(a));
  DO(clReleaseMemObject(b));
  free(heap);
}

static void maps(void) {
  cl_int error;
  char* own = aligned_alloc(4096, Bytes);
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, Bytes, NULL, &error);
  MADE(a);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, Bytes, own, &error);
  MADE(b);
  const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, CL_MAP_READ | CL_MAP_WRITE};
  for (int i = 0; i < 4; ++i) { /* one place, four meanings */
    const size_t size = 100 + (size_t)i;
    void* p = clEnqueueMapBuffer(queue, i % 2 ? a : b, CL_TRUE, flags[i], 64, size, 0, NULL, NULL, &error);
    MADE(p);
    if (flags[i] & (CL_MAP_READ | CL_MAP_WRITE)) moved(D2H, size);
    DO(clEnqueueUnmapMemObject(queue, i % 2 ? a : b, p, 0, NULL, NULL));
    if (flags[i] != CL_MAP_READ) moved(H2D, size);
  }
  if (clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, Bytes, 100, 0, NULL, NULL, NULL) != NULL) exit(1);
  DO(clFinish(queue));
  DO(clReleaseMemObject(a));
  DO(clReleaseMemObject(b));
  free(own);
}

static void images(void) {
  cl_int error;
  const cl_image_format format = {CL_RGBA, CL_FLOAT}; /* 16 bytes an element */
  cl_image_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 16;
  desc.image_height = 8;
  float* host = calloc(16 * 8, 16);
  cl_mem a = clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, host, &error);
  MADE(a);
  moved(H2D, 16 * 8 * 16);
  cl_mem b = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
  MADE(b);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, NULL, &error);
  MADE(buffer);
  const size_t region[3] = {5, 3, 1}, all[3] = {16, 8, 1};
  DO(clEnqueueWriteImage(queue, a, CL_TRUE, Zero, region, 0, 0, host, 0, NULL, NULL));
  moved(H2D, 5 * 3 * 16);
  DO(clEnqueueReadImage(queue, a, CL_TRUE, Zero, region, 256, 0, host, 0, NULL, NULL));
  moved(D2H, 5 * 3 * 16);
  DO(clEnqueueCopyImage(queue, a, b, Zero, Zero, region, 0, NULL, NULL));
  moved(D2D, 5 * 3 * 16);
  DO(clEnqueueCopyImageToBuffer(queue, a, buffer, Zero, region, 0, 0, NULL, NULL));
  moved(D2D, 5 * 3 * 16);
  DO(clEnqueueCopyBufferToImage(queue, buffer, b, 0, Zero, region, 0, NULL, NULL));
  moved(D2D, 5 * 3 * 16);
  const float color[4] = {1, 2, 3, 4};
  DO(clEnqueueFillImage(queue, b, color, Zero, all, 0, NULL, NULL));
  moved(D2D, 16 * 8 * 16);
  size_t row = 0;
  void* p = clEnqueueMapImage(queue, a, CL_TRUE, CL_MAP_WRITE, Zero, region, &row, NULL, 0, NULL, NULL, &error);
  MADE(p);
  moved(D2H, 5 * 3 * 16);
  DO(clEnqueueUnmapMemObject(queue, a, p, 0, NULL, NULL));
  moved(H2D, 5 * 3 * 16);
  DO(clFinish(queue));
  DO(clReleaseMemObject(buffer));
  DO(clReleaseMemObject(a));
  DO(clReleaseMemObject(b));
  free(host);
}

static void parts(void) {
  cl_int error;
  cl_mem whole = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * Bytes, NULL, &error);
  MADE(whole);
  const cl_buffer_region region = {Bytes, 1024};
  cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  MADE(part);
  DO(clReleaseMemObject(whole)); /* the part keeps it */
  cl_mem other = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &error);
  MADE(other);
  DO(clEnqueueWriteBuffer(queue, part, CL_TRUE, 0, 64, g_host, 0, NULL, NULL));
  moved(H2D, 64);
  DO(clEnqueueMigrateMemObjects(queue, 1, &part, 0, 0, NULL, NULL));
  moved(H2D, 1024);
  DO(clFinish(queue));
  DO(clReleaseMemObject(part));
  DO(clReleaseMemObject(other));
}

static void svm(void) {
  char* shared = clSVMAlloc(context, CL_MEM_READ_WRITE, Bytes, 0);
  if (shared == NULL) return;
  char* heap = calloc(Bytes, 1);
  memset(shared, 0, Bytes);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, shared + 128, heap + 8, 500, 0, NULL, NULL));
  moved(H2D, 500);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, heap, shared, 600, 0, NULL, NULL));
  moved(D2H, 600);
  DO(clEnqueueSVMMemcpy(queue, CL_TRUE, shared, shared + 2048, 700, 0, NULL, NULL));
  moved(D2D, 700);
  DO(clEnqueueSVMMemFill(queue, shared, heap, 4, 64, 0, NULL, NULL));
  moved(D2D, 64);
  DO(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, shared, 800, 0, NULL, NULL));
  moved(D2H, 800);
  DO(clEnqueueSVMUnmap(queue, shared, 0, NULL, NULL));
  moved(H2D, 800);
  DO(clFinish(queue));
  clSVMFree(context, shared);
  free(heap);
}

static const char* Source =
    "#include \"twice.h\"\n"
    "kernel void first(global int* a) { a[get_global_id(0)] = TWICE(a[get_global_id(0)]); }\n"
    "kernel void second(global const int* a, global int* b) { b[get_global_id(0)] = a[get_global_id(0)]; }\n";

static cl_program linked_program(void) {
  cl_int error;
  const char* header_text = "#define TWICE(x) (2 * (x))\n";
  cl_program header = clCreateProgramWithSource(context, 1, &header_text, NULL, &error);
  MADE(header);
  cl_program part = clCreateProgramWithSource(context, 1, &Source, NULL, &error);
  MADE(part);
  const char* name = "twice.h";
  DO(clCompileProgram(part, 1, &device, "-DOPTION", 1, &header, &name, NULL, NULL));
  cl_program program = clLinkProgram(context, 1, &device, NULL, 1, &part, NULL, NULL, &error);
  MADE(program);
  DO(clReleaseProgram(header));
  DO(clReleaseProgram(part));
  return program;
}

/* first, second and a copy of second: launched 1, 1 and 2 times. */
static void kernels(void) {
  cl_int error;
  cl_program program = linked_program();
  cl_kernel made[2];
  DO(clCreateKernelsInProgram(program, 2, made, NULL));
  char name[16];
  DO(clGetKernelInfo(made[0], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
  cl_kernel first = made[strcmp(name, "first") != 0], second = made[strcmp(name, "first") == 0];
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, NULL, &error);
  MADE(a);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, NULL, &error);
  MADE(b);
  DO(clSetKernelArg(first, 0, sizeof a, &a));
  DO(clSetKernelArg(second, 0, sizeof a, &a));
  DO(clSetKernelArg(second, 1, sizeof b, &b));
  const size_t items = 16;
  DO(clEnqueueNDRangeKernel(queue, first, 1, NULL, &items, NULL, 0, NULL, NULL));
  DO(clEnqueueNDRangeKernel(queue, second, 1, NULL, &items, NULL, 0, NULL, NULL));
  cl_kernel copy = clCloneKernel(second, &error);
  if (copy != NULL && error == CL_SUCCESS) {
    DO(clEnqueueNDRangeKernel(queue, copy, 1, NULL, &items, NULL, 0, NULL, NULL));
    DO(clEnqueueNDRangeKernel(queue, copy, 1, NULL, &items, NULL, 0, NULL, NULL));
    DO(clReleaseKernel(copy));
    printf("cloned\n");
  }
  DO(clFinish(queue));
  DO(clReleaseKernel(first));
  DO(clReleaseKernel(second));
  DO(clReleaseMemObject(a));
  DO(clReleaseMemObject(b));
  DO(clReleaseProgram(program));
}

#define EXTENSION(name) name##_fn name = (name##_fn)clGetExtensionFunctionAddressForPlatform(platform, #name)

/* Three commands, run twice: each run copies 256 and fills 128 bytes and launches `addone` once. */
static void command_buffer(void) {
  cl_int error;
  char extensions[4096] = "";
  clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL);
  if (strstr(extensions, "cl_khr_command_buffer") == NULL) return;
  EXTENSION(clCreateCommandBufferKHR);
  EXTENSION(clFinalizeCommandBufferKHR);
  EXTENSION(clReleaseCommandBufferKHR);
  EXTENSION(clEnqueueCommandBufferKHR);
  EXTENSION(clCommandCopyBufferKHR);
  EXTENSION(clCommandFillBufferKHR);
  EXTENSION(clCommandNDRangeKernelKHR);
  const char* text = "kernel void addone(global int* a) { a[get_global_id(0)] += 1; }\n";
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
  MADE(program);
  DO(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
  cl_kernel kernel = clCreateKernel(program, "addone", &error);
  MADE(kernel);
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, NULL, &error);
  MADE(a);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, NULL, &error);
  MADE(b);
  DO(clSetKernelArg(kernel, 0, sizeof b, &b));
  cl_command_buffer_khr commands = clCreateCommandBufferKHR(1, &queue, NULL, &error);
  MADE(commands);
  const int pattern = 3;
  const size_t items = 16;
  cl_sync_point_khr copied, filled;
  DO(clCommandCopyBufferKHR(commands, NULL, a, b, 0, 0, 256, 0, NULL, &copied, NULL));
  DO(clCommandFillBufferKHR(commands, NULL, b, &pattern, sizeof pattern, 0, 128, 1, &copied, &filled, NULL));
  DO(clCommandNDRangeKernelKHR(commands, NULL, NULL, kernel, 1, NULL, &items, NULL, 1, &filled, NULL, NULL));
  DO(clFinalizeCommandBufferKHR(commands));
  for (int i = 0; i < 2; ++i) {
    DO(clEnqueueCommandBufferKHR(0, NULL, commands, 0, NULL, NULL));
    DO(clFinish(queue));
    moved(D2D, 256 + 128);
  }
  DO(clReleaseCommandBufferKHR(commands));
  DO(clReleaseMemObject(a));
  DO(clReleaseMemObject(b));
  DO(clReleaseKernel(kernel));
  DO(clReleaseProgram(program));
  printf("command buffer\n");
}

int main(int argc, char** argv) {
  cl_int error;
  DO(clGetPlatformIDs(1, &platform, NULL));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  MADE(context);
  queue = clCreateCommandQueue(context, device, 0, &error);
  MADE(queue);
  if (asked(argc, argv, "buffers")) buffers();
  if (asked(argc, argv, "maps")) maps();
  if (asked(argc, argv, "images")) images();
  if (asked(argc, argv, "parts")) parts();
  if (asked(argc, argv, "svm")) svm();
  if (asked(argc, argv, "kernels")) kernels();
  if (asked(argc, argv, "command_buffer")) command_buffer();
  DO(clReleaseCommandQueue(queue));
  DO(clReleaseContext(context));
  const char* names[] = {"h2d", "d2h", "d2d"};
  for (int d = 0; d < 3; ++d) printf("%s %llu %llu\n", names[d], g_count[d], g_bytes[d]);
  return 0;
}
