// Kernel arguments of every kind: memory objects, samplers, local memory, values, and values that look like handles.
// Prints whether the driver describes them, then what kernels saw; the latter is the same on any platform.
#include <CL/cl.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

const char* const Source = R"(
typedef struct { uint low, high; } Pair;
typedef struct { uint low, high; ulong more; } Large;
kernel void everything(global const uint* a, constant uint* b, global ulong* out, local uint* shared, uint n,
                       ulong number, Pair pair, float2 floats, Large large) {
  shared[0] = b[n];
  out[0] = a[n], out[1] = shared[0], out[2] = n, out[3] = number;
  out[4] = pair.low, out[5] = pair.high, out[6] = (ulong)floats.x, out[7] = (ulong)floats.y;
  out[8] = large.low, out[9] = large.high, out[10] = large.more;
}
kernel void picture(read_only image2d_t from, sampler_t sampler, global ulong* out, write_only image2d_t to) {
  const uint4 pixel = read_imageui(from, sampler, (int2)(5, 1));  // outside: as the sampler says
  out[0] = pixel.x;
  write_imageui(to, (int2)(0, 0), pixel + 1);
}
kernel void is_null(global uint* a, global ulong* out) { out[0] = a == 0; }
kernel void number(ulong n, global ulong* out) { out[0] = n; }
)";

cl_device_id g_device;
cl_context g_context;
cl_command_queue g_queue;
cl_program g_program;
cl_mem g_out;

void begin() {
  cl_int code = 0;
  open_first_device(g_device, g_context, g_queue);
  const char* text = Source;
  g_program = clCreateProgramWithSource(g_context, 1, &text, nullptr, &code);
  CHECK(code);
  CHECK(clBuildProgram(g_program, 1, &g_device, "-cl-kernel-arg-info", nullptr, nullptr));
  g_out = clCreateBuffer(g_context, CL_MEM_READ_WRITE, 16 * sizeof(cl_ulong), nullptr, &code);
  CHECK(code);
}

cl_kernel kernel_of(const char* name) {
  cl_int code = 0;
  const cl_kernel kernel = clCreateKernel(g_program, name, &code);
  CHECK(code);
  return kernel;
}

template <class T>
void set(cl_kernel kernel, cl_uint index, const T& value) {
  CHECK(clSetKernelArg(kernel, index, sizeof value, &value));
}

std::vector<cl_ulong> run(cl_kernel kernel, size_t n) {
  const size_t one = 1;
  std::vector<cl_ulong> out(n);
  CHECK(clEnqueueNDRangeKernel(g_queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
  CHECK(clEnqueueReadBuffer(g_queue, g_out, CL_TRUE, 0, n * sizeof out[0], out.data(), 0, nullptr, nullptr));
  return out;
}

void print(const char* what, const std::vector<cl_ulong>& values) {
  std::printf("%s:", what);
  for (const cl_ulong v : values) std::printf(" %llu", static_cast<unsigned long long>(v));
  std::printf("\n");
}

cl_mem buffer_of(cl_uint first) {
  cl_uint values[4] = {first, first + 1, first + 2, first + 3};
  cl_int code = 0;
  const cl_mem mem =
      clCreateBuffer(g_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof values, values, &code);
  CHECK(code);
  return mem;
}

void test_all() {
  const cl_kernel kernel = kernel_of("everything");
  cl_kernel_arg_address_qualifier address = 0;
  std::printf("described: %d\n",
              clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, nullptr));
  struct Pair {
    cl_uint low, high;
  };
  struct Large {
    cl_uint low, high;
    cl_ulong more;
  };
  const cl_mem a = buffer_of(10), b = buffer_of(20), c = buffer_of(30);
  set(kernel, 0, a);
  set(kernel, 1, b);
  set(kernel, 2, g_out);
  CHECK(clSetKernelArg(kernel, 3, 8, nullptr));  // as large as a handle
  set(kernel, 4, cl_uint{2});
  set(kernel, 5, cl_ulong{0x123456789abcdef0});
  set(kernel, 6, Pair{7, 8});
  set(kernel, 7, cl_float2{{3, 4}});
  set(kernel, 8, Large{5, 6, 9});
  print("everything", run(kernel, 11));
  set(kernel, 0, c);  // another buffer, another size, another number
  CHECK(clSetKernelArg(kernel, 3, 64, nullptr));
  set(kernel, 5, cl_ulong{0});
  print("everything, changed", run(kernel, 11));
}

cl_mem image_of(cl_uint value) {
  std::vector<cl_uint> pixels(4 * 4 * 4, value);
  cl_image_format format{CL_RGBA, CL_UNSIGNED_INT32};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 4;
  cl_int code = 0;
  const cl_mem image = clCreateImage(g_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, pixels.data(),
                                     &code);
  CHECK(code);
  return image;
}

void test_pictures() {
  const cl_kernel kernel = kernel_of("picture");
  const cl_mem from = image_of(40), to = image_of(50);
  cl_int code = 0;
  const cl_sampler clamp = clCreateSampler(g_context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
  CHECK(code);
  const cl_sampler edge = clCreateSampler(g_context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &code);
  CHECK(code);
  set(kernel, 0, from);
  set(kernel, 2, g_out);
  set(kernel, 3, to);
  for (const cl_sampler sampler : {clamp, edge}) {
    set(kernel, 1, sampler);
    print("picture", run(kernel, 1));
  }
  const size_t origin[3] = {}, region[3] = {1, 1, 1};
  cl_uint pixel[4] = {};
  CHECK(clEnqueueReadImage(g_queue, to, CL_TRUE, origin, region, 0, 0, pixel, 0, nullptr, nullptr));
  print("written", {pixel[0], pixel[1], pixel[2], pixel[3]});
}

void test_no_memory() {
  const cl_kernel kernel = kernel_of("is_null");
  const cl_mem some = buffer_of(1), none = nullptr;
  set(kernel, 1, g_out);
  set(kernel, 0, some);
  print("some memory", run(kernel, 1));
  set(kernel, 0, none);
  print("a NULL handle", run(kernel, 1));
  set(kernel, 0, some);
  CHECK(clSetKernelArg(kernel, 0, sizeof none, nullptr));
  print("NULL", run(kernel, 1));
}

// Addresses of all sorts, as numbers: whether they come as they were sent.
void test_numbers() {
  const cl_kernel kernel = kernel_of("number");
  const auto block = std::make_unique<char[]>(1000);
  const auto of = [](const void* p) { return static_cast<cl_ulong>(reinterpret_cast<uintptr_t>(p)); };
  set(kernel, 1, g_out);
  for (const cl_ulong n : {cl_ulong{0}, cl_ulong{1}, ~cl_ulong{0}, of(block.get()), of(&block), of(Source),
                           of(g_out) + 8, of(g_out) - 8, of(g_out) + 1, of(g_context), of(g_queue), of(g_program),
                           of(kernel), of(g_device), of(reinterpret_cast<const void*>(&clSetKernelArg))}) {
    set(kernel, 0, n);
    print("number", {run(kernel, 1)[0] == n});
  }
}

}  // namespace

int main() {
  begin();
  test_all();
  test_pictures();
  test_no_memory();
  test_numbers();
  return 0;
}
