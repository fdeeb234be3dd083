// The fake driver, through the ICD loader: the path that programs take, and what the environment
// scripts. The environment of this test:
// FAKE_CL_FAIL="clEnqueueReadBuffer:2=-5,clCreateSubBuffer=-4", FAKE_CL_DELAY="clFlush=20ms",
// FAKE_CL_KERNEL_NS=12345.
#include <CL/cl.h>
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Setup {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  Setup() {
    cl_uint platforms = 0;
    REQUIRE(clGetPlatformIDs(1, &platform, &platforms) == CL_SUCCESS);
    REQUIRE(platforms == 1);
    REQUIRE(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS);
    cl_int error = -1;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    REQUIRE(error == CL_SUCCESS);
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    queue = clCreateCommandQueueWithProperties(context, device, properties, &error);
    REQUIRE(error == CL_SUCCESS);
  }
  ~Setup() {
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
};

cl_ulong profiled_ns(cl_event event) {
  cl_ulong start = 0, end = 0;
  REQUIRE(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start,
                                  nullptr) == CL_SUCCESS);
  REQUIRE(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) ==
          CL_SUCCESS);
  clReleaseEvent(event);
  return end - start;
}

}  // namespace

TEST_CASE("write, launch, read") {
  const Setup cl;
  char name[64] = {};
  REQUIRE(clGetPlatformInfo(cl.platform, CL_PLATFORM_NAME, sizeof name, name, nullptr) ==
          CL_SUCCESS);
  CHECK(name == std::string("Fake OpenCL"));

  std::vector<unsigned char> data(4096, 7), back(4096, 0);
  cl_int error = -1;
  cl_mem a = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, data.size(), nullptr, &error);
  cl_mem b = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, data.size(), nullptr, &error);
  REQUIRE(clEnqueueWriteBuffer(cl.queue, a, CL_TRUE, 0, data.size(), data.data(), 0, nullptr,
                               nullptr) == CL_SUCCESS);

  const char* source =
      "__kernel void increment(__global uchar* x) {}\nkernel void copy(global uchar* x, global "
      "uchar* y) {}";
  cl_program program = clCreateProgramWithSource(cl.context, 1, &source, nullptr, &error);
  CHECK(clCreateKernel(program, "copy", &error) == nullptr);  // not built
  CHECK(error == CL_INVALID_PROGRAM_EXECUTABLE);
  REQUIRE(clBuildProgram(program, 0, nullptr, "-DX", nullptr, nullptr) == CL_SUCCESS);
  cl_uint kernels = 0;
  REQUIRE(clCreateKernelsInProgram(program, 0, nullptr, &kernels) == CL_SUCCESS);
  CHECK(kernels == 2);
  CHECK(clCreateKernel(program, "absent", &error) == nullptr);
  CHECK(error == CL_INVALID_KERNEL_NAME);
  cl_kernel increment = clCreateKernel(program, "increment", &error);
  cl_kernel copy = clCreateKernel(program, "copy", &error);
  REQUIRE(clSetKernelArg(increment, 0, sizeof a, &a) == CL_SUCCESS);
  REQUIRE(clSetKernelArg(copy, 0, sizeof a, &a) == CL_SUCCESS);
  REQUIRE(clSetKernelArg(copy, 1, sizeof b, &b) == CL_SUCCESS);
  CHECK(clSetKernelArg(copy, 2, sizeof b, &b) == CL_INVALID_ARG_INDEX);
  const size_t global = 4096;
  cl_event event = nullptr;
  REQUIRE(clEnqueueNDRangeKernel(cl.queue, increment, 1, nullptr, &global, nullptr, 0, nullptr,
                                 &event) == CL_SUCCESS);
  REQUIRE(clEnqueueNDRangeKernel(cl.queue, copy, 1, nullptr, &global, nullptr, 1, &event,
                                 nullptr) == CL_SUCCESS);
  REQUIRE(clWaitForEvents(1, &event) == CL_SUCCESS);
  CHECK(profiled_ns(event) == 12345);

  REQUIRE(clEnqueueReadBuffer(cl.queue, b, CL_TRUE, 0, back.size(), back.data(), 0, nullptr,
                              nullptr) == CL_SUCCESS);
  CHECK(back == std::vector<unsigned char>(4096, 8));
  // The second read is scripted to fail, and the third is not.
  CHECK(clEnqueueReadBuffer(cl.queue, b, CL_TRUE, 0, 1, back.data(), 0, nullptr, nullptr) ==
        CL_OUT_OF_RESOURCES);
  CHECK(clEnqueueReadBuffer(cl.queue, b, CL_TRUE, 0, 1, back.data(), 0, nullptr, nullptr) ==
        CL_SUCCESS);
  CHECK(clEnqueueReadBuffer(cl.queue, b, CL_TRUE, 1, 4096, back.data(), 0, nullptr, nullptr) ==
        CL_INVALID_VALUE);

  clReleaseKernel(increment);
  clReleaseKernel(copy);
  clReleaseProgram(program);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

TEST_CASE("fill, map and rectangles") {
  const Setup cl;
  cl_int error = -1;
  unsigned char host[64];
  for (unsigned char i = 0; i < 64; ++i) host[i] = i;
  cl_mem mem = clCreateBuffer(cl.context, CL_MEM_COPY_HOST_PTR, sizeof host, host, &error);
  REQUIRE(error == CL_SUCCESS);
  const size_t origin[3] = {2, 1, 0}, zero[3] = {0, 0, 0}, region[3] = {3, 2, 1};
  unsigned char box[6] = {};
  REQUIRE(clEnqueueReadBufferRect(cl.queue, mem, CL_TRUE, origin, zero, region, 8, 0, 3, 0, box, 0,
                                  nullptr, nullptr) == CL_SUCCESS);
  const unsigned char expected[6] = {10, 11, 12, 18, 19, 20};
  CHECK(std::memcmp(box, expected, sizeof box) == 0);

  const unsigned short pattern = 0x0201;
  REQUIRE(clEnqueueFillBuffer(cl.queue, mem, &pattern, 2, 4, 8, 0, nullptr, nullptr) == CL_SUCCESS);
  auto* mapped = static_cast<unsigned char*>(clEnqueueMapBuffer(
      cl.queue, mem, CL_TRUE, CL_MAP_READ, 0, sizeof host, 0, nullptr, nullptr, &error));
  REQUIRE(error == CL_SUCCESS);
  CHECK(mapped[3] == 3);
  CHECK(mapped[4] == 1);
  CHECK(mapped[11] == 2);
  CHECK(mapped[12] == 12);
  REQUIRE(clEnqueueUnmapMemObject(cl.queue, mem, mapped, 0, nullptr, nullptr) == CL_SUCCESS);
  CHECK(clEnqueueUnmapMemObject(cl.queue, mem, mapped, 0, nullptr, nullptr) == CL_INVALID_VALUE);
  clReleaseMemObject(mem);
}

TEST_CASE("what the environment scripts") {
  const Setup cl;
  cl_int error = 0;
  cl_mem mem = clCreateBuffer(cl.context, 0, 64, nullptr, &error);
  const cl_buffer_region region = {0, 32};
  CHECK(clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error) == nullptr);
  CHECK(error == CL_MEM_OBJECT_ALLOCATION_FAILURE);
  const auto before = std::chrono::steady_clock::now();
  CHECK(clFlush(cl.queue) == CL_SUCCESS);
  CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(20));
  clReleaseMemObject(mem);
}

TEST_CASE("functions that the fake does not have") {
  const Setup cl;
  cl_int error = 0;
  CHECK(clCreateSamplerWithProperties(cl.context, nullptr, &error) == nullptr);
  CHECK(error == CL_INVALID_OPERATION);
}
