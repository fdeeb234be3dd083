// What programs use of OpenCL besides commands: builds of every kind, callbacks, queries, times, sub-devices, printf.
// Prints what came of it; the same on any platform over the same device.
//
// Usage: features FOLDER [MS]      FOLDER holds a.h, which includes inner/b.h; MS: how long a callback is waited for
// that some drivers forget
#include <CL/cl.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

cl_platform_id g_platform;
cl_device_id g_device;
cl_context g_context;
cl_command_queue g_queue;

int g_patience_ms = 5000;

void wait_for(const std::atomic<int>& count, int n, int most_ms = 5000) {
  for (int i = 0; i < most_ms && count < n; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

cl_program source(const char* text) {
  cl_int err = 0;
  cl_program p = clCreateProgramWithSource(g_context, 1, &text, nullptr, &err);
  CHECK(err);
  return p;
}

// PoCL 3.1 may use the event of a command a little after the command is over, when nobody else holds it any more: the
// events of its commands live as long as this program.
cl_event* kept() {
  static std::vector<std::unique_ptr<cl_event>> events;
  return events.emplace_back(std::make_unique<cl_event>()).get();
}

// Runs `name` over eight elements of a buffer and prints them.
void run(cl_program program, const char* name) {
  cl_int err = 0;
  cl_kernel kernel = clCreateKernel(program, name, &err);
  CHECK(err);
  int out[8] = {};
  cl_mem buffer = clCreateBuffer(g_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof out, out, &err);
  CHECK(err);
  CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  const size_t n = 8;
  CHECK(clEnqueueNDRangeKernel(g_queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, kept()));
  CHECK(clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, sizeof out, out, 0, nullptr, kept()));
  std::printf("%s:", name);
  for (const int v : out) std::printf(" %d", v);
  std::printf("\n");
  CHECK(clReleaseMemObject(buffer));
  CHECK(clReleaseKernel(kernel));
}

void includes(const std::string& folder) {
  cl_program p = source("#include \"a.h\"\nkernel void included(global int* o) { o[get_global_id(0)] = A + B; }\n");
  CHECK(clBuildProgram(p, 0, nullptr, ("-DX=1 -I " + folder).c_str(), nullptr, nullptr));
  run(p, "included");
  CHECK(clReleaseProgram(p));
  // From the root of the file system; what that includes is beside it.
  const std::string text = "#  include <" + std::filesystem::absolute(folder).string() +
                           "/inner/../a.h> // a comment\n"
                           "kernel void rooted(global int* o) { o[get_global_id(0)] = A * B; }\n";
  p = source(text.c_str());
  CHECK(clBuildProgram(p, 0, nullptr, nullptr, nullptr, nullptr));
  run(p, "rooted");
  std::string again(text.size() + 1, '\0');
  CHECK(clGetProgramInfo(p, CL_PROGRAM_SOURCE, again.size(), again.data(), nullptr));
  expect(again == text + '\0', "the source is the program's");
  CHECK(clReleaseProgram(p));
}

void binaries() {
  cl_program p = source("kernel void stored(global int* o) { o[get_global_id(0)] = 3 * get_global_id(0); }\n");
  CHECK(clBuildProgram(p, 1, &g_device, "", nullptr, nullptr));
  size_t size = 0;
  CHECK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr));
  std::vector<unsigned char> binary(size);
  unsigned char* at = binary.data();
  CHECK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof at, &at, nullptr));
  CHECK(clReleaseProgram(p));
  cl_int err = 0, status = 1;
  const unsigned char* from = binary.data();
  cl_program again = clCreateProgramWithBinary(g_context, 1, &g_device, &size, &from, &status, &err);
  CHECK(err);
  CHECK(status);
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  cl_build_status build = CL_BUILD_SUCCESS;
  CHECK(clGetProgramBuildInfo(again, g_device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, nullptr));
  CHECK(clGetProgramBuildInfo(again, g_device, CL_PROGRAM_BUILD_STATUS, sizeof build, &build, nullptr));
  std::printf("a binary: type %u, status %d\n", type, build);
  CHECK(clBuildProgram(again, 0, nullptr, "", nullptr, nullptr));
  run(again, "stored");
  CHECK(clReleaseProgram(again));
  const unsigned char junk[64] = {1, 2, 3};
  const size_t junk_size = sizeof junk;
  from = junk;
  again = clCreateProgramWithBinary(g_context, 1, &g_device, &junk_size, &from, &status, &err);
  std::printf("junk binary: %d\n", err);
  if (again) clReleaseProgram(again);
}

void compile_and_link() {
  cl_int err = 0;
  cl_program header = source("#define OFFSET 100\n");
  cl_program part = source("int plus(int v);\nint plus(int v) { return v + 1; }\n");
  cl_program whole = source(
      "#include \"offset.h\"\nint plus(int v);\n"
      "kernel void linked(global int* o) { o[get_global_id(0)] = plus(OFFSET + get_global_id(0)); }\n");
  const char* name = "offset.h";
  CHECK(clCompileProgram(part, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
  CHECK(clCompileProgram(whole, 0, nullptr, "", 1, &header, &name, nullptr, nullptr));
  const cl_program both[] = {part, whole};
  cl_program linked = clLinkProgram(g_context, 0, nullptr, "", 2, both, nullptr, nullptr, &err);
  CHECK(err);
  run(linked, "linked");
  for (cl_program p : {header, part, whole, linked}) CHECK(clReleaseProgram(p));
}

std::atomic<int> g_built{0};
void CL_CALLBACK built(cl_program, void* data) { g_built += *static_cast<int*>(data); }

void asynchronous_build() {
  static int one = 1;
  cl_program p = source("kernel void later(global int* o) { o[get_global_id(0)] = 7; }\n");
  CHECK(clBuildProgram(p, 0, nullptr, "", built, &one));
  wait_for(g_built, 1);
  expect(g_built == 1, "build callback");
  run(p, "later");
  CHECK(clReleaseProgram(p));
  p = source("kernel void wrong(global int* o) { o[0] = missing; }\n");
  std::printf("broken build: %d\n", clBuildProgram(p, 0, nullptr, "", nullptr, nullptr));
  char log[4096] = "";
  CHECK(clGetProgramBuildInfo(p, g_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr));
  expect(std::strstr(log, "missing") != nullptr, "log names the fault");
  CHECK(clReleaseProgram(p));
}

void kernel_queries() {
  cl_program p = source(
      "kernel void first(global const float* in, local int* l, int n) {}\n"
      "kernel void second(float4 v) {}\n");
  CHECK(clBuildProgram(p, 0, nullptr, "-cl-kernel-arg-info", nullptr, nullptr));
  cl_kernel kernels[2];
  cl_uint n = 0;
  CHECK(clCreateKernelsInProgram(p, 2, kernels, &n));
  size_t count = 0;
  CHECK(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, nullptr));
  std::printf("kernels: %u %zu\n", n, count);
  cl_int err = 0;
  cl_kernel k = clCreateKernel(p, "first", &err);
  CHECK(err);
  for (cl_uint i = 0; i < 3; ++i) {
    char type[64] = "", name[64] = "";
    cl_uint address = 0;
    CHECK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, nullptr));
    CHECK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_NAME, sizeof name, name, nullptr));
    CHECK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, nullptr));
    std::printf("arg %u: %s %s %x\n", i, type, name, address);
  }
  size_t group = 0;
  CHECK(clGetKernelWorkGroupInfo(k, g_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, nullptr));
  std::printf("group: %zu\n", group);
  CHECK(clReleaseKernel(k));
  for (cl_kernel one : kernels) CHECK(clReleaseKernel(one));
  CHECK(clReleaseProgram(p));
}

std::atomic<int> g_states{0}, g_gone{0};
void CL_CALLBACK state(cl_event, cl_int status, void* data) {
  g_states += status == *static_cast<cl_int*>(data) ? 1 : 100;
}
void CL_CALLBACK gone(cl_mem, void*) { ++g_gone; }

void events() {
  static cl_int wanted[] = {CL_COMPLETE, CL_RUNNING, CL_SUBMITTED, -7};
  cl_int err = 0;
  cl_event gate = clCreateUserEvent(g_context, &err), marker;
  CHECK(clEnqueueMarkerWithWaitList(g_queue, 1, &gate, &marker));
  for (cl_int& w : wanted) {
    if (w >= 0) CHECK(clSetEventCallback(marker, w, state, &w));
  }
  CHECK(clFlush(g_queue));
  cl_int status = -1;
  CHECK(clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  expect(status > CL_COMPLETE, "waits for the user event");
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
  CHECK(clWaitForEvents(1, &marker));
  wait_for(g_states, 3);
  expect(g_states == 3, "event callbacks");
  CHECK(clReleaseEvent(gate));
  CHECK(clReleaseEvent(marker));
  gate = clCreateUserEvent(g_context, &err);
  g_states = 0;
  CHECK(clSetEventCallback(gate, CL_COMPLETE, state, &wanted[3]));
  CHECK(clSetUserEventStatus(gate, -7));
  wait_for(g_states, 1, g_patience_ms);
  expect(g_states == 1, "failed user event's callback");
  CHECK(clReleaseEvent(gate));
  cl_mem mem = clCreateBuffer(g_context, 0, 64, nullptr, &err);
  CHECK(clSetMemObjectDestructorCallback(mem, gone, nullptr));
  CHECK(clReleaseMemObject(mem));
  wait_for(g_gone, 1);
  expect(g_gone == 1, "destructor callback");
}

void times() {
  cl_int err = 0;
  cl_command_queue q = clCreateCommandQueue(g_context, g_device, CL_QUEUE_PROFILING_ENABLE, &err);
  CHECK(err);
  std::vector<char> host(1 << 20);
  cl_mem mem = clCreateBuffer(g_context, 0, host.size(), nullptr, &err);
  CHECK(err);
  cl_event event;
  CHECK(clEnqueueWriteBuffer(q, mem, CL_TRUE, 0, host.size(), host.data(), 0, nullptr, &event));
  CHECK(clWaitForEvents(1, &event));
  cl_ulong t[4] = {};
  for (cl_uint i = 0; i < 4; ++i) {
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof t[i], &t[i], nullptr));
  }
  expect(t[0] != 0 && t[0] <= t[1] && t[1] <= t[2] && t[2] <= t[3], "times in order");
  CHECK(clReleaseEvent(event));
  CHECK(clReleaseMemObject(mem));
  CHECK(clReleaseCommandQueue(q));
}

// That a command has ended is known when one after it has, whether it was asked about before or not.
void implied_ends() {
  const char pattern = 1;
  cl_int err = 0;
  cl_mem mem = clCreateBuffer(g_context, 0, 1 << 20, nullptr, &err);
  CHECK(err);
  int ended = 0;
  for (int round = 0; round < 200; ++round) {
    cl_event fill, marker;
    cl_int status = CL_QUEUED;
    CHECK(clEnqueueFillBuffer(g_queue, mem, &pattern, 1, 0, 1 << 20, 0, nullptr, &fill));
    if (round % 2) CHECK(clGetEventInfo(fill, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
    CHECK(clEnqueueMarkerWithWaitList(g_queue, 0, nullptr, &marker));
    CHECK(clWaitForEvents(1, &marker));
    CHECK(clGetEventInfo(fill, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
    ended += status == CL_COMPLETE;
    CHECK(clReleaseEvent(fill));
    CHECK(clReleaseEvent(marker));
  }
  std::printf("ended before a marker: %d\n", ended);
  CHECK(clReleaseMemObject(mem));
}

// What commands of parts of a device were for is released at last, or never: a thread of PoCL 3.1 may still be busy
// with the last one, and crash.
std::function<void()> g_at_last;

// A program is built for a device, and its parts have it.
void build_for_parts(const cl_device_id* parts, cl_uint count) {
  std::vector<cl_device_id> all(parts, parts + count);
  all.push_back(g_device);
  cl_int err = 0;
  cl_context c = clCreateContext(nullptr, count + 1, all.data(), nullptr, nullptr, &err);
  CHECK(err);
  const char* text = "kernel void k(global int* a) { a[0] += 1; }";
  cl_program p = clCreateProgramWithSource(c, 1, &text, nullptr, &err);
  CHECK(err);
  CHECK(clBuildProgram(p, 1, &g_device, "-DPARTS", nullptr, nullptr));
  for (cl_device_id d : all) {
    cl_build_status status = CL_BUILD_NONE;
    CHECK(clGetProgramBuildInfo(p, d, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr));
    std::printf("built for the whole: %d\n", status);
  }
  cl_kernel k = clCreateKernel(p, "k", &err);
  CHECK(err);
  int sum = 0;
  cl_mem mem = clCreateBuffer(c, CL_MEM_COPY_HOST_PTR, sizeof sum, &sum, &err);
  CHECK(err);
  CHECK(clSetKernelArg(k, 0, sizeof mem, &mem));
  for (cl_device_id d : all) {
    cl_command_queue q = clCreateCommandQueue(c, d, 0, &err);
    CHECK(err);
    const size_t one = 1;
    CHECK(clEnqueueNDRangeKernel(q, k, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
    CHECK(clEnqueueReadBuffer(q, mem, CL_TRUE, 0, sizeof sum, &sum, 0, nullptr, nullptr));
  }
  std::printf("launches on the whole and its %u parts: %d\n", count, sum);
}

void sub_devices() {
  const cl_device_partition_property by[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_device_id parts[8];
  cl_uint n = 0;
  const cl_int code = clCreateSubDevices(g_device, by, 8, parts, &n);
  std::printf("sub-devices: %d\n", code);
  if (code != CL_SUCCESS) return;
  cl_device_id parent = nullptr;
  cl_uint units = 0;
  CHECK(clGetDeviceInfo(parts[0], CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr));
  CHECK(clGetDeviceInfo(parts[0], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr));
  std::printf("units: %u\n", units);
  expect(parent == g_device, "parent");
  cl_int err = 0;
  cl_context c = clCreateContext(nullptr, 1, parts, nullptr, nullptr, &err);
  CHECK(err);
  cl_command_queue q = clCreateCommandQueue(c, parts[0], 0, &err);
  CHECK(err);
  int out = 0;
  const int pattern = 77;
  cl_mem mem = clCreateBuffer(c, 0, sizeof out, nullptr, &err);
  CHECK(clEnqueueFillBuffer(q, mem, &pattern, sizeof pattern, 0, sizeof pattern, 0, nullptr, nullptr));
  CHECK(clEnqueueReadBuffer(q, mem, CL_TRUE, 0, sizeof out, &out, 0, nullptr, nullptr));
  std::printf("filled: %d\n", out);
  CHECK(clReleaseMemObject(mem));
  build_for_parts(parts, n);
  g_at_last = [=] {
    CHECK(clReleaseCommandQueue(q));
    CHECK(clReleaseContext(c));
    for (cl_uint i = 0; i < n; ++i) CHECK(clReleaseDevice(parts[i]));
  };
}

void printing() {
  cl_program p = source("kernel void speak(global int* o) { printf(\"from the device: %d\\n\", 42); o[0] = 1; }\n");
  CHECK(clBuildProgram(p, 0, nullptr, "", nullptr, nullptr));
  cl_int err = 0;
  cl_kernel k = clCreateKernel(p, "speak", &err);
  cl_mem mem = clCreateBuffer(g_context, 0, 64, nullptr, &err);
  CHECK(clSetKernelArg(k, 0, sizeof mem, &mem));
  const size_t one = 1;
  std::fflush(stdout);
  CHECK(clEnqueueNDRangeKernel(g_queue, k, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
  CHECK(clFinish(g_queue));
  CHECK(clReleaseMemObject(mem));
  CHECK(clReleaseKernel(k));
  CHECK(clReleaseProgram(p));
}

// Ever growing buffers: released ones must give their memory back.
void many_objects() {
  cl_int err = 0;
  for (int i = 0; i < 2000; ++i) {
    cl_mem mem = clCreateBuffer(g_context, 0, size_t{16} << 20, nullptr, &err);
    CHECK(err);
    CHECK(clReleaseMemObject(mem));
  }
  CHECK(clFinish(g_queue));
  expect(true, "many objects");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  if (argc == 3) g_patience_ms = std::atoi(argv[2]);
  g_platform = open_first_device(g_device, g_context, g_queue);
  includes(argv[1]);
  binaries();
  compile_and_link();
  asynchronous_build();
  kernel_queries();
  events();
  times();
  implied_ends();
  sub_devices();
  printing();
  many_objects();
  if (g_at_last) g_at_last();
  CHECK(clReleaseCommandQueue(g_queue));
  CHECK(clReleaseContext(g_context));
  return 0;
}
