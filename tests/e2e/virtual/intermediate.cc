// Programs made from SPIR-V: built, specialized, linked, asked about, and damaged. Prints a line for each; the same on
// any platform over the same device. The modules are assembled here.
//
// Usage: intermediate
#include <CL/cl.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/e2e/virtual/check.h"
#include "tests/spirv_samples.h"

using namespace gt::testing;  // NOLINT: this file is about them

namespace {

constexpr size_t Count = 64;

cl_device_id g_device;
cl_context g_context;
cl_command_queue g_queue;

void say(const char* what, cl_int code) { std::printf("%s: %d\n", what, code); }

gt::Bytes scaled() {
  SpirvBuilder b;
  add_scaled(b, 2);
  return b.bytes();
}

cl_program made(const gt::Bytes& module) {
  cl_int err = 0;
  cl_program p = clCreateProgramWithIL(g_context, module.data(), module.size(), &err);
  CHECK(err);
  return p;
}

cl_mem buffer(cl_uint first) {
  std::vector<cl_uint> values(Count);
  for (cl_uint i = 0; i < Count; ++i) values[i] = first + i;
  cl_int err = 0;
  cl_mem mem =
      clCreateBuffer(g_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Count * sizeof(cl_uint), values.data(), &err);
  CHECK(err);
  return mem;
}

// With buffers of counting numbers as arguments, the last of which is shown.
void run(cl_program p, const char* name, cl_uint buffers) {
  cl_int err = 0;
  cl_kernel k = clCreateKernel(p, name, &err);
  CHECK(err);
  std::vector<cl_mem> mems;
  for (cl_uint i = 0; i < buffers; ++i) {
    mems.push_back(buffer(i * 1000));
    CHECK(clSetKernelArg(k, i, sizeof(cl_mem), &mems[i]));
  }
  CHECK(clEnqueueNDRangeKernel(g_queue, k, 1, nullptr, &Count, nullptr, 0, nullptr, nullptr));
  for (const cl_mem mem : mems) {
    std::vector<cl_uint> now(Count);
    CHECK(clEnqueueReadBuffer(g_queue, mem, CL_TRUE, 0, Count * sizeof(cl_uint), now.data(), 0, nullptr, nullptr));
    std::printf("%s: %u %u ... %u\n", name, now[0], now[1], now[Count - 1]);
    CHECK(clReleaseMemObject(mem));
  }
  CHECK(clReleaseKernel(k));
}

cl_int build(cl_program p) { return clBuildProgram(p, 1, &g_device, "", nullptr, nullptr); }

void plain() {
  cl_program p = made(sample_module(add_sum));
  CHECK(build(p));
  run(p, "sum", 3);
  size_t size = 0;
  CHECK(clGetProgramInfo(p, CL_PROGRAM_IL, 0, nullptr, &size));
  std::vector<uint8_t> il(size);
  CHECK(clGetProgramInfo(p, CL_PROGRAM_IL, size, il.data(), nullptr));
  expect(il == sample_module(add_sum), "the IL comes back");
  CHECK(clReleaseProgram(p));
}

void specialized() {
  cl_program p = made(scaled());
  const cl_uint five = 5;
  const cl_ulong wide = 5;
  CHECK(build(p));
  run(p, "scaled", 2);
  CHECK(clReleaseProgram(p));
  p = made(scaled());
  expect(clSetProgramSpecializationConstant(p, 99, sizeof five, &five) != CL_SUCCESS, "no such constant");
  expect(clSetProgramSpecializationConstant(p, 7, sizeof wide, &wide) != CL_SUCCESS, "a constant of another size");
  expect(clSetProgramSpecializationConstant(p, 7, sizeof five, nullptr) != CL_SUCCESS, "a constant without a value");
  CHECK(clSetProgramSpecializationConstant(p, 7, sizeof five, &five));
  CHECK(build(p));
  run(p, "scaled", 2);
  CHECK(clReleaseProgram(p));
}

void linked() {
  cl_program parts[2] = {made(sample_module(add_sum)), made(scaled())};
  const cl_uint nine = 9;
  CHECK(clSetProgramSpecializationConstant(parts[1], 7, sizeof nine, &nine));
  for (cl_program part : parts) CHECK(clCompileProgram(part, 1, &g_device, "", 0, nullptr, nullptr, nullptr, nullptr));
  cl_int err = 0;
  cl_program p = clLinkProgram(g_context, 1, &g_device, "", 2, parts, nullptr, nullptr, &err);
  CHECK(err);
  run(p, "sum", 3);
  run(p, "scaled", 2);
  for (cl_program part : parts) CHECK(clReleaseProgram(part));
  CHECK(clReleaseProgram(p));
}

// Refused when it is made or when it is built, as the driver likes; nobody ends.
void damaged() {
  gt::Bytes module = sample_module(add_sum);
  module.resize(module.size() / 2);
  cl_int err = 0;
  cl_program p = clCreateProgramWithIL(g_context, module.data(), module.size(), &err);
  expect(err != CL_SUCCESS || build(p) != CL_SUCCESS, "half a module is refused");
  if (p) CHECK(clReleaseProgram(p));
  p = clCreateProgramWithIL(g_context, "no module at all", 16, &err);
  say("text as IL", err);
  if (p) CHECK(clReleaseProgram(p));
}

}  // namespace

int main(int argc, char**) {
  open_first_device(g_device, g_context, g_queue);
  char version[256] = "";
  CHECK(clGetDeviceInfo(g_device, CL_DEVICE_IL_VERSION, sizeof version, version, nullptr));
  std::printf("IL version: '%s'\n", version);
  if (version[0] == '\0') return 0;
  plain();
  specialized();
  linked();
  if (argc > 1) damaged();  // drivers end the process at it
  CHECK(clReleaseCommandQueue(g_queue));
  CHECK(clReleaseContext(g_context));
}
