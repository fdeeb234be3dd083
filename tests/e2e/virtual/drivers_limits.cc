// What drivers do at and beyond the limits that the specification or they themselves name: a line for each answer. A
// remote device must give its driver's.
//
// Usage: drivers_limits
#include <CL/cl.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

cl_platform_id g_platform = nullptr;
cl_device_id g_device = nullptr;
cl_context g_context = nullptr;
cl_command_queue g_queue = nullptr;
constexpr size_t Size = 4096;

void say(const char* what, cl_int code) { std::printf("%s: %d\n", what, code); }

cl_mem buffer() {
  cl_int code = 0;
  const cl_mem made = clCreateBuffer(g_context, CL_MEM_READ_WRITE, Size, nullptr, &code);
  CHECK(code);
  return made;
}

// Larger than what a device tells to be the most, and used up to its end.
void large_buffers() {
  cl_ulong most = 0;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, nullptr));
  for (const cl_ulong bytes : {most + Size, cl_ulong{1} << 60}) {
    cl_int code = 0;
    const cl_mem made = clCreateBuffer(g_context, 0, bytes, nullptr, &code);
    std::printf("a buffer of more than the most: %d\n", code);
    if (!made) continue;
    const int number = 7;
    int back = 0;
    const size_t last = bytes - sizeof number;
    const cl_int written =
        clEnqueueWriteBuffer(g_queue, made, CL_TRUE, last, sizeof number, &number, 0, nullptr, nullptr);
    const cl_int read = clEnqueueReadBuffer(g_queue, made, CL_TRUE, last, sizeof back, &back, 0, nullptr, nullptr);
    std::printf("  its end: %d %d, %d\n", written, read, back);
    clReleaseMemObject(made);
  }
}

void parts_of_buffers() {
  const cl_mem whole = buffer();
  std::vector<unsigned char> bytes(Size), back(64);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  CHECK(clEnqueueWriteBuffer(g_queue, whole, CL_TRUE, 0, Size, bytes.data(), 0, nullptr, nullptr));
  for (const size_t origin : {0, 1, 4, 64, 100, 1024}) {
    cl_int code = 0;
    const cl_buffer_region region{origin, 64};
    const cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    std::printf("part at %zu: %d", origin, code);
    if (part) {
      code = clEnqueueReadBuffer(g_queue, part, CL_TRUE, 0, back.size(), back.data(), 0, nullptr, nullptr);
      std::printf(", read %d %d", code, back[0]);
      clReleaseMemObject(part);
    }
    std::printf("\n");
  }
  clReleaseMemObject(whole);
}

void maps_of_nothing() {
  const cl_mem a = buffer();
  for (const size_t at : {size_t{0}, Size, Size + 4}) {
    cl_int code = 0;
    void* const p = clEnqueueMapBuffer(g_queue, a, CL_TRUE, CL_MAP_WRITE, at, 0, 0, nullptr, nullptr, &code);
    std::printf("map of nothing at %zu: %d, a pointer %d", at, code, p != nullptr);
    if (code == CL_SUCCESS)
      std::printf(", unmap %d", clEnqueueUnmapMemObject(g_queue, a, p, 0, nullptr, nullptr));
    std::printf("\n");
  }
  say("finish", clFinish(g_queue));
  clReleaseMemObject(a);
}

void boxes() {
  const cl_mem a = buffer(), b = buffer();
  std::vector<unsigned char> bytes(Size), back(Size);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  CHECK(clEnqueueWriteBuffer(g_queue, a, CL_TRUE, 0, Size, bytes.data(), 0, nullptr, nullptr));
  const size_t none[3] = {}, region[3] = {16, 4, 2};
  const auto read = [&](const char* what, size_t row, size_t slice, size_t host_row, size_t host_slice) {
    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    const cl_int code = clEnqueueReadBufferRect(g_queue, a, CL_TRUE, none, none, region, row, slice, host_row,
                                                host_slice, back.data(), 0, nullptr, nullptr);
    std::printf("%s: %d, sum %d\n", what, code, code ? 0 : std::accumulate(back.begin(), back.end(), 0));
  };
  read("even", 16, 64, 16, 64);
  read("uneven slices of the buffer", 16, 65, 0, 0);
  read("uneven slices of the host", 0, 0, 16, 65);
  read("slices too close", 16, 63, 0, 0);
  read("rows too close", 15, 64, 0, 0);
  say("uneven write", clEnqueueWriteBufferRect(g_queue, b, CL_TRUE, none, none, region, 16, 65, 16, 65, bytes.data(), 0,
                                               nullptr, nullptr));
  say("uneven copy", clEnqueueCopyBufferRect(g_queue, a, b, none, none, region, 16, 65, 16, 64, 0, nullptr, nullptr));
  for (int side = 0; side < 3; ++side) {
    size_t empty[3] = {16, 4, 2};
    empty[side] = 0;
    say("write of an empty box", clEnqueueWriteBufferRect(g_queue, b, CL_TRUE, none, none, empty, 0, 0, 0, 0,
                                                          bytes.data(), 0, nullptr, nullptr));
    say("read of one, with pitches", clEnqueueReadBufferRect(g_queue, b, CL_TRUE, none, none, empty, 16, 64, 16, 64,
                                                             back.data(), 0, nullptr, nullptr));
  }
  say("finish", clFinish(g_queue));
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

cl_image_desc plane() {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 16;
  desc.image_height = 4;
  return desc;
}

// Listed or not.
void formats() {
  const cl_image_desc desc = plane();
  for (cl_channel_order order = CL_R; order <= CL_ABGR; ++order) {
    std::printf("order %x:", order);
    for (cl_channel_type type = CL_SNORM_INT8; type <= CL_UNORM_INT_101010_2; ++type) {
      const cl_image_format format{order, type};
      cl_int code = 0;
      const cl_mem image = clCreateImage(g_context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &code);
      std::printf(" %d", code);
      if (image) clReleaseMemObject(image);
    }
    std::printf("\n");
  }
}

void parts_of_images() {
  const cl_image_desc desc = plane();
  const cl_image_format format{CL_RGBA, CL_UNORM_INT8};
  cl_int code = 0;
  const cl_mem image = clCreateImage(g_context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &code);
  CHECK(code);
  std::vector<unsigned char> bytes(Size, 9);
  const size_t none[3] = {}, whole[3] = {16, 4, 1};
  for (const size_t row : {0, 64, 65, 66, 68, 128}) {
    std::printf("rows of %zu", row);
    say("", clEnqueueWriteImage(g_queue, image, CL_TRUE, none, whole, row, 0, bytes.data(), 0, nullptr, nullptr));
    say("  read", clEnqueueReadImage(g_queue, image, CL_TRUE, none, whole, row, 0, bytes.data(), 0, nullptr, nullptr));
  }
  for (int side = 0; side < 3; ++side) {
    size_t empty[3] = {16, 4, 1};
    empty[side] = 0;
    say("write of no pixels", clEnqueueWriteImage(g_queue, image, CL_TRUE, none, empty, 0, 0, bytes.data(), 0, nullptr,
                                                  nullptr));
    say("read of none", clEnqueueReadImage(g_queue, image, CL_TRUE, none, empty, 0, 0, bytes.data(), 0, nullptr,
                                           nullptr));
  }
  clReleaseMemObject(image);
  const cl_sampler sampler = clCreateSampler(g_context, CL_FALSE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, &code);
  say("a sampler that repeats what is not normalized", code);
  if (sampler) clReleaseSampler(sampler);
}

void images() {
  cl_bool has = CL_FALSE;
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_IMAGE_SUPPORT, sizeof has, &has, nullptr));
  if (!has) return;
  formats();
  parts_of_images();
}

void kernels() {
  const char* source =
      "kernel void k(global int* a, constant int* b, local int* c, local char* d, int v) {\n"
      "  c[0] = v; d[0] = b[0]; a[get_global_id(0)] = c[0] + d[0]; }\n"
      "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fixed(global int* a) { a[0] = 1; }\n";
  cl_int code = 0;
  const cl_program program = clCreateProgramWithSource(g_context, 1, &source, nullptr, &code);
  CHECK(code);
  CHECK(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  const cl_kernel k = clCreateKernel(program, "k", &code), fixed = clCreateKernel(program, "fixed", &code);
  CHECK(code);
  for (const size_t size : {1, 2, 4, 8, 12, 16})
    for (const cl_uint index : {0u, 1u}) say("no object", clSetKernelArg(k, index, size, nullptr));
  cl_ulong bytes = 0;
  const auto room = [&](size_t ints, size_t chars) {
    CHECK(clSetKernelArg(k, 2, ints, nullptr));
    CHECK(clSetKernelArg(k, 3, chars, nullptr));
    CHECK(clGetKernelWorkGroupInfo(k, g_device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, nullptr));
    std::printf("local memory with %zu and %zu: %llu\n", ints, chars, static_cast<unsigned long long>(bytes));
  };
  room(4, 1);
  room(64, 1);
  room(64, 3);
  const cl_mem a = buffer();
  CHECK(clSetKernelArg(fixed, 0, sizeof a, &a));
  for (const size_t global : {4, 8, 6})
    say("a size that is required, left out", clEnqueueNDRangeKernel(g_queue, fixed, 1, nullptr, &global, nullptr, 0,
                                                                    nullptr, nullptr));
  say("finish", clFinish(g_queue));
  clReleaseMemObject(a);
  clReleaseKernel(fixed);
  clReleaseKernel(k);
  clReleaseProgram(program);
}

void timers() {
  cl_ulong device = 0, host = 0;
  say("timers", clGetDeviceAndHostTimer(g_device, &device, &host));
  say("the host's", clGetHostTimer(g_device, &host));
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  g_platform = open_first_device(g_device, g_context, g_queue);
  large_buffers();
  parts_of_buffers();
  maps_of_nothing();
  boxes();
  images();
  kernels();
  timers();
  clReleaseCommandQueue(g_queue);
  clReleaseContext(g_context);
  std::printf("end\n");
  return 0;
}
