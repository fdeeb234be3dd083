// What test programs say: a call that failed ends them, and a line tells whether what they looked at is right.
#pragma once

#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>

inline void check(cl_int code, const char* what, int line) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "line %d: %s: %d\n", line, what, code);
  std::exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

// The first device, in a context and with a queue of its own. Gives the platform.
inline cl_platform_id open_first_device(cl_device_id& device, cl_context& context, cl_command_queue& queue) {
  cl_platform_id platform = nullptr;
  cl_int code = 0;
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  CHECK(code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  CHECK(code);
  return platform;
}

inline void expect(bool good, const char* what) { std::printf("%s: %s\n", what, good ? "yes" : "NO"); }
