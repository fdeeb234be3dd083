// Commands on three queues in two contexts, in known numbers; with the fake driver each takes a known time.
//
//   busy_queues LAUNCHES WRITES     on queues of their own in one context; half as many of both on one queue in another
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace {

cl_device_id device;

void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  std::fprintf(stderr, "busy_queues: %s: %d\n", what, error);
  std::exit(1);
}
#define DO(call) check(call, #call)

struct Work {
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 10000, nullptr, nullptr);
  cl_kernel kernel = nullptr;

  Work() {
    const char* source = "kernel void k(global int* p) {}";
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
    DO(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
    kernel = clCreateKernel(program, "k", nullptr);
    DO(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    DO(clReleaseProgram(program));
  }
  void launch(cl_command_queue queue, int times) const {
    const size_t global = 1;
    for (int i = 0; i < times; ++i)
      DO(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr));
    DO(clFinish(queue));
  }
  void write(cl_command_queue queue, int times) const {
    static char host[10000];
    for (int i = 0; i < times; ++i)
      DO(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof host, host, 0, nullptr, nullptr));
    DO(clFinish(queue));
  }
  void release() const {
    DO(clReleaseKernel(kernel));
    DO(clReleaseMemObject(buffer));
    DO(clReleaseContext(context));
  }
};

}  // namespace

int main(int, char** argv) {
  const int launches = std::atoi(argv[1]), writes = std::atoi(argv[2]);
  cl_platform_id platform = nullptr;
  DO(clGetPlatformIDs(1, &platform, nullptr));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  const Work one, other;
  cl_command_queue computing = clCreateCommandQueue(one.context, device, 0, nullptr);
  cl_command_queue copying = clCreateCommandQueue(one.context, device, 0, nullptr);
  cl_command_queue both = clCreateCommandQueue(other.context, device, 0, nullptr);
  one.launch(computing, launches);
  one.write(copying, writes);
  other.launch(both, launches / 2);
  other.write(both, writes / 2);
  for (cl_command_queue q : {computing, copying, both}) DO(clReleaseCommandQueue(q));
  one.release();
  other.release();
  return 0;
}
