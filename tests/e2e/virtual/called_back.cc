// Functions of the program that OpenCL calls, and what they call: a line for each thing that is to be so.
//
// Usage: called_back
#include <CL/cl.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

cl_device_id g_device = nullptr;
cl_context g_context = nullptr;
cl_command_queue g_queue = nullptr;
const char* const Good = "kernel void k(global int* a) { a[0] = 41; }";
const char* const Broken = "kernel void k(global int* a) { a[0] = nothing; }";

template <class Done>
bool comes(Done done) {
  for (int ms = 0; ms < 30000 && !done(); ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return done();
}

cl_program program_of(const char* source) {
  cl_int code = 0;
  const cl_program program = clCreateProgramWithSource(g_context, 1, &source, nullptr, &code);
  CHECK(code);
  return program;
}

struct Told {
  std::atomic<int> calls{0};
  cl_program program = nullptr;
  cl_build_status status = CL_BUILD_NONE;
  bool made_kernel = false;
  int value = 0;
};

// Runs the program's kernel and reads what it wrote: blocking.
int run(cl_kernel kernel) {
  cl_int code = 0;
  int value = 0;
  const size_t one = 1;
  const cl_mem out = clCreateBuffer(g_context, 0, sizeof value, nullptr, &code);
  clSetKernelArg(kernel, 0, sizeof out, &out);
  clEnqueueNDRangeKernel(g_queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr);
  clEnqueueReadBuffer(g_queue, out, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
  clReleaseMemObject(out);
  return value;
}

void CL_CALLBACK built(cl_program program, void* data) {
  auto& told = *static_cast<Told*>(data);
  told.program = program;
  clGetProgramBuildInfo(program, g_device, CL_PROGRAM_BUILD_STATUS, sizeof told.status, &told.status, nullptr);
  cl_int code = 0;
  if (const cl_kernel kernel = clCreateKernel(program, "k", &code)) {
    told.made_kernel = true;
    told.value = run(kernel);
    clReleaseKernel(kernel);
  }
  ++told.calls;
}

void say(const char* what, const Told& told, cl_program program) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for a second call
  std::printf("%s: called %d, status %d, kernel %d, value %d, the program %d\n", what, told.calls.load(), told.status,
              told.made_kernel, told.value, told.program == program);
}

void builds() {
  for (const char* source : {Good, Broken}) {
    Told told;
    const cl_program program = program_of(source);
    const cl_int code = clBuildProgram(program, 0, nullptr, "", built, &told);
    expect(comes([&] { return told.calls > 0; }), "a build calls back");
    expect(code == CL_SUCCESS || source == Broken, "and its call returned");
    say("build", told, program);
    clReleaseProgram(program);
  }
  Told compiled, linked;
  const cl_program part = program_of(Good);
  clCompileProgram(part, 0, nullptr, "", 0, nullptr, nullptr, built, &compiled);
  expect(comes([&] { return compiled.calls > 0; }), "a compilation calls back");
  say("compile", compiled, part);
  cl_int code = 0;
  const cl_program whole = clLinkProgram(g_context, 0, nullptr, "", 1, &part, built, &linked, &code);
  expect(comes([&] { return linked.calls > 0; }), "a link calls back");
  say("link", linked, whole);
  clReleaseProgram(whole);
  clReleaseProgram(part);
}

// Goes on without having been called, as one may where a build is over when its call returns.
void builds_used_at_once() {
  Told told;
  const cl_program program = program_of(Good);
  CHECK(clBuildProgram(program, 0, nullptr, "-DA=1", built, &told));
  cl_int code = 0;
  const cl_kernel kernel = clCreateKernel(program, "k", &code);
  expect(kernel && run(kernel) == 41, "a kernel of what is being built");
  expect(comes([&] { return told.calls > 0; }), "the call comes, too");
  clReleaseKernel(kernel);
  clReleaseProgram(program);
}

// Releases the program's last reference, and builds another one, waiting to be called for that.
void CL_CALLBACK build_another(cl_program program, void* data) {
  auto& told = *static_cast<Told*>(data);
  clReleaseProgram(program);
  Told inner;
  const cl_program other = program_of(Good);
  clBuildProgram(other, 0, nullptr, "-DB=1", built, &inner);
  told.made_kernel = comes([&] { return inner.calls > 0; }) && inner.value == 41;
  clReleaseProgram(other);
  ++told.calls;
}

void builds_inside() {
  Told told;
  CHECK(clBuildProgram(program_of(Good), 0, nullptr, "-DC=1", build_another, &told));
  expect(comes([&] { return told.calls > 0; }) && told.made_kernel,
         "a build that is begun and awaited by a build's call");
}

void CL_CALLBACK goes_on(cl_event event, cl_int status, void* data) {
  auto& told = *static_cast<Told*>(data);
  cl_int seen = 1;
  clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof seen, &seen, nullptr);
  told.status = status == CL_COMPLETE && seen == CL_COMPLETE ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
  int value = 7;
  cl_int code = 0;
  const cl_mem buffer = clCreateBuffer(g_context, 0, sizeof value, nullptr, &code);
  clEnqueueWriteBuffer(g_queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
  value = 0;
  clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
  clFinish(g_queue);
  clReleaseMemObject(buffer);
  told.value = value;
  clReleaseEvent(event);
  ++told.calls;
}

// The calls that it makes wait for commands, which may be some of the event's queue.
void events() {
  Told told;
  cl_int code = 0;
  char byte = 1;
  const cl_mem buffer = clCreateBuffer(g_context, 0, 1, nullptr, &code);
  cl_event written = nullptr;
  CHECK(clEnqueueWriteBuffer(g_queue, buffer, CL_FALSE, 0, 1, &byte, 0, nullptr, &written));
  CHECK(clSetEventCallback(written, CL_COMPLETE, goes_on, &told));
  CHECK(clFlush(g_queue));
  expect(comes([&] { return told.calls > 0; }) && told.status == CL_BUILD_SUCCESS && told.value == 7,
         "an event's call reads, writes and finishes");
  clReleaseMemObject(buffer);
}

struct Order {
  std::atomic<int> calls{0};
  int seen[3] = {};
};
struct Nth {
  Order* order;
  int number;
};
void note(const Nth& nth) { nth.order->seen[nth.order->calls++] = nth.number; }
void CL_CALLBACK gone(cl_mem, void* data) { note(*static_cast<Nth*>(data)); }

void memory_that_ends() {
  Order order;
  const Nth list[] = {{&order, 1}, {&order, 2}, {&order, 3}};
  cl_int code = 0;
  const cl_mem buffer = clCreateBuffer(g_context, 0, 64, nullptr, &code);
  for (const Nth& nth : list) CHECK(clSetMemObjectDestructorCallback(buffer, gone, const_cast<Nth*>(&nth)));
  CHECK(clReleaseMemObject(buffer));
  std::printf("at once: %d\n", order.calls.load());
  expect(comes([&] { return order.calls == 3; }), "memory calls when it ends");
  std::printf("order: %d %d %d\n", order.seen[0], order.seen[1], order.seen[2]);
}

void CL_CALLBACK large(cl_event, cl_int, void* data) {
  volatile char room[size_t{1} << 20];
  for (size_t i = 0; i < sizeof room; i += 4096) room[i] = 1;
  *static_cast<std::atomic<int>*>(data) = 1;
}

void stacks() {
  std::atomic<int> done{0};
  cl_int code = 0;
  const cl_event event = clCreateUserEvent(g_context, &code);
  CHECK(clSetEventCallback(event, CL_COMPLETE, large, &done));
  CHECK(clSetUserEventStatus(event, CL_COMPLETE));
  expect(comes([&] { return done == 1; }), "a call has a megabyte of stack");
  clReleaseEvent(event);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  open_first_device(g_device, g_context, g_queue);
  builds();
  builds_used_at_once();
  builds_inside();
  events();
  memory_that_ends();
  stacks();
  std::printf("end\n");
  return 0;
}
