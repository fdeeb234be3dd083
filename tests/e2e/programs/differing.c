/* Programs whose replay differs by device, or cannot be made on another one. Usage: differing WHAT
 *
 * mark     a kernel between others, and much that nothing depends on
 * half     a kernel that writes a half of a buffer that nothing else has written
 * group    work-groups of 64: of a kernel that does not care, with `fixed` of one that asks for it, with `local` of one
 *          with local memory
 * queue    a queue out of order
 * large    a buffer of 1 MiB
 * image    an image of CL_RGBA, CL_UNORM_INT8
 * svm      coarse-grained SVM memory that a kernel writes
 * doubles  a program that asks for cl_khr_fp64
 * crash    a kernel that writes through a wild pointer, and much that has nothing to do with it
 */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const source =
    "kernel void count(global int* a) { a[get_global_id(0)] += get_global_id(0); }\n"
    "kernel void half_of_it(global int* a) { a[get_global_id(0)] = 7; }\n"
    "kernel void mark(global const int* a, global int* out) { out[get_global_id(0) + 2] = a[get_global_id(0)] + 3; }\n"
    "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void fixed(global int* a) { a[get_global_id(0)] = 1; }\n"
    "kernel void with_local(global int* a, local int* t) {\n"
    "  t[get_local_id(0)] = a[get_global_id(0)];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  a[get_global_id(0)] = t[get_local_size(0) - 1 - get_local_id(0)];\n"
    "}\n"
    "kernel void wild(global int* a) { *(global int*)(a[0] + (ulong)8) = 1; }\n";
static const char* const doubles =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "kernel void twice(global double* a) { a[get_global_id(0)] *= 2; }\n";

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;

static cl_mem buffer(size_t bytes) { return clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL); }

static cl_kernel kernel(const char* name, cl_mem a) {
  cl_kernel k = clCreateKernel(program, name, NULL);
  clSetKernelArg(k, 0, sizeof a, &a);
  return k;
}

static void launch(cl_kernel k, size_t global, size_t local) {
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL);
}

static void fill(cl_mem a, size_t bytes) {
  char* const data = calloc(1, bytes);
  clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
  free(data);
}

static void show(cl_mem a) {
  int found[2];
  clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL);
  printf("%d %d\n", found[0], found[1]);
}

/* What nothing depends on. */
static void other_work(int times) {
  cl_mem a = buffer(4096);
  fill(a, 4096);
  cl_kernel count = kernel("count", a);
  for (int i = 0; i < times; ++i) {
    launch(count, 1024, 0);
    clFinish(queue);
  }
  clReleaseKernel(count);
  clReleaseMemObject(a);
}

static int groups(const char* how) {
  cl_mem a = buffer(4096);
  fill(a, 4096);
  cl_kernel k = kernel(strcmp(how, "fixed") == 0 ? "fixed" : strcmp(how, "local") == 0 ? "with_local" : "count", a);
  if (strcmp(how, "local") == 0) clSetKernelArg(k, 1, 64 * sizeof(int), NULL);
  launch(k, 1024, 64);
  show(a);
  return 0;
}

static int marks(void) {
  other_work(20);
  cl_mem a = buffer(4096), out = buffer(4096);
  fill(a, 4096);
  fill(out, 4096);
  launch(kernel("count", a), 1024, 0);
  cl_kernel mark = kernel("mark", a);
  clSetKernelArg(mark, 1, sizeof out, &out);
  launch(mark, 16, 0);
  other_work(20);
  show(out);
  return 0;
}

static int image(void) {
  const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
  cl_image_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 16;
  return clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, NULL) ? 0 : 1;
}

static int shared(void) {
  const cl_uint zero = 0;
  void* const memory = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
  cl_kernel count = clCreateKernel(program, "count", NULL);
  if (!memory) return 1;
  clEnqueueSVMMemFill(queue, memory, &zero, sizeof zero, 4096, 0, NULL, NULL);
  clSetKernelArgSVMPointer(count, 0, memory);
  launch(count, 1024, 0);
  clFinish(queue);
  clSVMFree(context, memory);
  return 0;
}

int main(int argc, char** argv) {
  cl_platform_id platform;
  const char* const what = argc > 1 ? argv[1] : "";
  const char** const text = (const char**)(strcmp(what, "doubles") == 0 ? &doubles : &source);
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 4;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
  program = clCreateProgramWithSource(context, 1, text, NULL, NULL);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL)) return 4;
  if (strcmp(what, "doubles") == 0) return 0;
  if (strcmp(what, "mark") == 0) return marks();
  if (strcmp(what, "group") == 0) return groups(argc > 2 ? argv[2] : "");
  if (strcmp(what, "queue") == 0)
    return clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL) ? 0 : 1;
  if (strcmp(what, "large") == 0) return buffer(1 << 20) ? 0 : 1;
  if (strcmp(what, "image") == 0) return image();
  if (strcmp(what, "svm") == 0) return shared();
  if (strcmp(what, "half") == 0) {
    cl_mem a = buffer(1 << 20);
    launch(kernel("half_of_it", a), 1 << 17, 0);
    show(a);
    return 0;
  }
  if (strcmp(what, "crash") == 0) {
    other_work(20);
    cl_mem a = buffer(4096);
    fill(a, 4096);
    launch(kernel("wild", a), 1, 0);
    clFinish(queue);
    return 0;
  }
  return 2;
}
