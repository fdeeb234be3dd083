// The loop of an ordinary program, for as long as wanted: a buffer, three arguments, a block of memory.
// Usage: regular CALLS
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 1000;
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 4;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return 4;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const char* source = "kernel void f(global int* a, int b, int c) {}";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
  clBuildProgram(program, 1, &device, nullptr, nullptr, nullptr);
  cl_kernel kernel = clCreateKernel(program, "f", nullptr);
  constexpr long CallsAnIteration = 5;
  for (long i = 0; i < calls / CallsAnIteration; ++i) {
    void* volatile block = std::malloc(64 + static_cast<size_t>(i % 3) * 1000);
    const cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, nullptr, nullptr);
    const auto number = static_cast<cl_int>(i), parity = static_cast<cl_int>(i % 2);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    clSetKernelArg(kernel, 1, sizeof number, &number);
    clSetKernelArg(kernel, 2, sizeof parity, &parity);
    clReleaseMemObject(buffer);
    std::free(block);
  }
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseContext(context);
  std::puts("done");
  return 0;
}
