// Sets kernel arguments from random places in random order, or in one loop with random numbers.
// Usage: chaos CALLS [numbers]
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>

namespace {

// One call site for each I.
template <int I>
void set(cl_kernel kernel, cl_int value) {
  clSetKernelArg(kernel, I, sizeof value, &value);
  asm volatile("" ::: "memory");
}
using Set = void (*)(cl_kernel, cl_int);
constexpr Set Sets[] = {set<0>, set<1>, set<2>, set<3>, set<4>, set<5>, set<6>, set<7>};

}  // namespace

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 1000;
  const bool ordered = argc > 2;
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 4;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return 4;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const char* source = "kernel void f(int a, int b, int c, int d, int e, int f, int g, int h) {}";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
  clBuildProgram(program, 1, &device, nullptr, nullptr, nullptr);
  cl_kernel kernel = clCreateKernel(program, "f", nullptr);
  for (long i = 0; i < calls; ++i) Sets[ordered ? i % 8 : random() % 8](kernel, static_cast<cl_int>(random()));
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseContext(context);
  std::puts("done");
  return 0;
}
