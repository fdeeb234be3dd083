// Launches and transfers in numbers that --timing samples, and what the program sees of profiling meanwhile.
//
//   sampled LAUNCHES        prints "ok", or what differs from an untraced run
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>

namespace {

int fail(const char* what) {
  std::printf("%s\n", what);
  return 1;
}

// What a program without profiling must see: no property, no times.
const char* hidden(cl_command_queue queue, cl_event event) {
  cl_command_queue_properties bits = ~cl_command_queue_properties{0};
  cl_ulong time = 0;
  clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof bits, &bits, nullptr);
  if (bits & CL_QUEUE_PROFILING_ENABLE) return "the queue shows profiling";
  if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr) !=
      CL_PROFILING_INFO_NOT_AVAILABLE) {
    return "the event has times";
  }
  return nullptr;
}

}  // namespace

int main(int, char** argv) {
  const int launches = std::atoi(argv[1]);
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  clGetPlatformIDs(1, &platform, nullptr);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const cl_queue_properties asked[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  cl_command_queue plain = clCreateCommandQueueWithProperties(context, device, nullptr, nullptr);
  cl_command_queue profiling = clCreateCommandQueueWithProperties(context, device, asked, nullptr);
  const char* source = "kernel void k(global int* p) {}";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
  clBuildProgram(program, 1, &device, "", nullptr, nullptr);
  cl_kernel kernel = clCreateKernel(program, "k", nullptr);
  char host[1000] = {};
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, nullptr, nullptr);
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);

  const size_t global = 1;
  for (int i = 0; i < launches; ++i) {
    clEnqueueWriteBuffer(plain, buffer, CL_FALSE, 0, sizeof host, host, 0, nullptr, nullptr);
    clEnqueueNDRangeKernel(plain, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
    if (i % 100 == 0) clFinish(plain);
  }
  clFinish(plain);
  for (int i = 0; i < launches; ++i) {
    cl_event event = nullptr, other = nullptr;
    cl_ulong start = 0, end = 0;
    clEnqueueNDRangeKernel(profiling, kernel, 1, nullptr, &global, nullptr, 0, nullptr, &event);
    clEnqueueNDRangeKernel(plain, kernel, 1, nullptr, &global, nullptr, 0, nullptr, &other);
    clWaitForEvents(1, &event);
    clWaitForEvents(1, &other);
    if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr) != CL_SUCCESS ||
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) != CL_SUCCESS ||
        end < start) {
      return fail("the program's own profiling does not work");
    }
    cl_uint references = 0;
    clGetEventInfo(other, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, nullptr);
    if (references != 1) return fail("the event has other references");
    if (const char* seen = hidden(plain, other)) return fail(seen);
    clReleaseEvent(event);
    clReleaseEvent(other);
  }
  std::printf("ok\n");
  return 0;
}
