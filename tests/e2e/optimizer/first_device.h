// How the optimizer's test programs end when OpenCL refuses something, and the device that they use: the first.
#pragma once

#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>

inline void must(cl_int err, const char* what) {
  if (err == CL_SUCCESS) return;
  std::printf("%s failed: %d\n", what, err);
  std::fflush(stdout);
  std::_Exit(1);
}

struct FirstDevice {
  cl_device_id device = nullptr;
  cl_context context = nullptr;

  void open() {
    cl_platform_id platform = nullptr;
    must(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    cl_int err = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &err);
    must(err, "clCreateContext");
  }
};
