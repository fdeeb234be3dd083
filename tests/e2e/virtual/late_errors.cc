// What a program hears of commands that only the driver could refuse. Prints a line for each step.
//
// Usage: late_errors
#include <CL/cl.h>

#include <cstdio>
#include <vector>

namespace {

void say(const char* what, cl_int code) {
  std::printf("%s %d\n", what, code);
  std::fflush(stdout);
}

}  // namespace

int main() {
  cl_platform_id platform;
  cl_device_id device;
  cl_int err = 0;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 1;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return 1;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &err);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &err);
  const char* source = "kernel void increment(global uchar* a) { a[get_global_id(0)]++; }";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &err);
  say("build", clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(program, "increment", &err);
  say("kernel", err);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &err);
  say("buffer", err);
  say("argument", clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  const size_t n = 64;
  cl_event event = nullptr;
  say("first launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr));
  say("second launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, &event));
  if (event) say("wait", clWaitForEvents(1, &event));
  cl_int status = 1;
  if (event) clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  say("status", status);
  say("finish", clFinish(queue));
  say("finish again", clFinish(queue));
  std::vector<char> host(64);
  say("read", clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64, host.data(), 0, nullptr, nullptr));
  return 0;
}
