// What the test programs of shared memory, virtual and unified, have in common: one device, a context, a queue, a
// program, and bytes that are told by their digest.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/e2e/virtual/check.h"

inline cl_device_id g_device;
inline cl_context g_context;
inline cl_command_queue g_queue;
inline cl_program g_program;

inline uint64_t digest(const void* p, size_t bytes) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < bytes; ++i) h = (h ^ static_cast<const uint8_t*>(p)[i]) * 1099511628211u;
  return h;
}
inline void show(const std::string& what, uint64_t h) {
  std::printf("%s: %016llx\n", what.c_str(), static_cast<unsigned long long>(h));
}
inline std::vector<uint8_t> pattern(size_t bytes, int seed) {
  std::vector<uint8_t> v(bytes);
  for (size_t i = 0; i < bytes; ++i) v[i] = static_cast<uint8_t>(i * 31 + i / 256 + static_cast<size_t>(seed));
  return v;
}

inline cl_kernel kernel(const char* name) {
  cl_int err = 0;
  cl_kernel k = clCreateKernel(g_program, name, &err);
  CHECK(err);
  return k;
}
inline void launch(cl_kernel k, size_t items = 1) {
  CHECK(clEnqueueNDRangeKernel(g_queue, k, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
}
