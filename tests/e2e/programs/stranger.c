/* A program whose kernel is nobody's friend: on a device that is this processor it makes a file, and reads one.
 *
 * Usage: stranger FILE SECRET. Prints what the system answered (x86-64, Linux) and what it read.
 *        stranger SECRET. Builds a program that includes it.
 */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static const char* const source =
    "long call(long n, ulong a, long b, long c) {\n"
    "  long r;\n"
    "  __asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(n), \"D\"(a), \"S\"(b), \"d\"(c)\n"
    "                   : \"rcx\", \"r11\", \"memory\");\n"
    "  return r;\n"
    "}\n"
    "kernel void meddle(global char* made, global char* secret, global long* answers) {\n"
    "  answers[0] = call(2, (ulong)made, 0102, 0600) >= 0;\n" /* open: to write, and make it */
    "  long file = call(2, (ulong)secret, 0, 0);\n"
    "  answers[1] = file >= 0 && call(0, file, (long)(answers + 4), 64) > 0;\n"
    "}\n";

static cl_mem copied(cl_context context, const char* path) {
  char bytes[4096] = "";
  snprintf(bytes, sizeof bytes, "%s", path);
  return clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof bytes, bytes, NULL);
}

int main(int argc, char** argv) {
  cl_platform_id platform;
  cl_device_id device;
  if (argc < 2) return 2;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 4;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL) != CL_SUCCESS) return 4;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  char including[5000];
  snprintf(including, sizeof including, "#include \"%s\"\nkernel void k() {}\n", argv[1]);
  const char* text = argc < 3 ? including : source;
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
  if (clBuildProgram(program, 1, &device, NULL, NULL, NULL) != CL_SUCCESS) return 4;
  if (argc < 3) return 0;
  cl_kernel meddle = clCreateKernel(program, "meddle", NULL);
  cl_mem made = copied(context, argv[1]), secret = copied(context, argv[2]), answers = copied(context, "");
  clSetKernelArg(meddle, 0, sizeof made, &made);
  clSetKernelArg(meddle, 1, sizeof secret, &secret);
  clSetKernelArg(meddle, 2, sizeof answers, &answers);
  const size_t one = 1;
  long got[16] = {0};
  clEnqueueNDRangeKernel(queue, meddle, 1, NULL, &one, NULL, 0, NULL, NULL);
  clEnqueueReadBuffer(queue, answers, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL);
  printf("%ld %ld %.64s\n", got[0], got[1], (const char*)(got + 4));
  return 0;
}
