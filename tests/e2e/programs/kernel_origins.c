// Kernels whose programs a trace must tell apart: kernel_origins MODE
//   binary    a kernel of a program made from a binary, run once
//   variants  one place that builds a program twice, with options that swap what is read and written
//   includes  a program that includes ./move.h, which must lie in the present folder
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, error);
  exit(1);
}

static cl_program build(const char* source, const char* options) {
  cl_int error;
  cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(p, 1, &device, options, NULL, NULL), "clBuildProgram");
  return p;
}

static cl_program from_binary(cl_program built) {
  size_t size = 0;
  check(clGetProgramInfo(built, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), "size of the binary");
  unsigned char* bytes = malloc(size);
  check(clGetProgramInfo(built, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL), "the binary");
  cl_int error, status;
  cl_program p =
      clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char**)&bytes, &status, &error);
  check(error, "clCreateProgramWithBinary");
  free(bytes);
  check(clBuildProgram(p, 1, &device, "", NULL, NULL), "clBuildProgram of the binary");
  return p;
}

static void run(cl_program program) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, "copy", &error);
  check(error, "clCreateKernel");
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, 256, NULL, NULL);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, 256, NULL, NULL);
  const cl_int factor = 2;
  const size_t size = 16;
  clSetKernelArg(kernel, 0, sizeof a, &a);
  clSetKernelArg(kernel, 1, sizeof b, &b);
  clSetKernelArg(kernel, 2, sizeof factor, &factor);
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  check(clFinish(queue), "clFinish");
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  clReleaseKernel(kernel);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  cl_platform_id platform;
  cl_int error;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "clCreateCommandQueue");
  if (!strcmp(argv[1], "binary")) {
    cl_program built =
        build("kernel void copy(global const int* from, global int* to, int factor) {"
              "  to[get_global_id(0)] = factor * from[get_global_id(0)]; }",
              "-cl-kernel-arg-info");
    run(from_binary(built));
    return 0;
  }
  if (!strcmp(argv[1], "includes")) {
    run(build("#include \"./move.h\"\n"
              "kernel void copy(global int* a, global int* b, int factor) { MOVE(b, a); }",
              "-I."));
    return 0;
  }
  const char* source =
      "kernel void copy(global int* a, global int* b, int factor) {\n"
      "#ifdef BACK\n  a[get_global_id(0)] = factor * b[get_global_id(0)];\n"
      "#else\n  b[get_global_id(0)] = factor * a[get_global_id(0)];\n#endif\n}\n";
  const char* options[] = {"", "-DBACK"};
  for (int i = 0; i < 2; ++i) run(build(source, options[i]));
  return 0;
}
