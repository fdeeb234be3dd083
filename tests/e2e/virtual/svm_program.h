// What the test programs of shared virtual memory share: one device, a context, a queue, a program of kernels.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/e2e/virtual/memory_program.h"

inline const char* const Source = R"(
typedef struct Node { global struct Node* next; ulong value; } Node;
typedef struct Branch { global struct Branch* child[2]; ulong value; } Branch;
kernel void walk(global Node* n, global ulong* sum) {
  ulong all = 0;
  for (; n; n = n->next) { all = all * 3 + n->value; n->value += 1; }
  *sum = all;
}
kernel void chain(global Node* nodes, int n) {
  for (int i = 0; i < n; ++i) { nodes[i].next = i + 1 < n ? nodes + (i * 7 + 3) % n : 0; nodes[i].value = i * i; }
}
kernel void leftmost(global Branch* b, global ulong* sum) {
  ulong all = 0;
  for (int side = 0; b; side ^= 1) { all = all * 5 + b->value; b = b->child[side]; }
  *sum = all;
}
kernel void count(global uchar* p, int by) { p[get_global_id(0)] += get_global_id(0) * by; }
kernel void evens(global uchar* p, int by) { p[2 * get_global_id(0)] += by; }
kernel void total(global const uchar* p, ulong n, global ulong* sum) {
  ulong all = 0;
  for (ulong i = 0; i < n; ++i) all = all * 31 + p[i];
  *sum = all;
}
)";

template <class T>
T* allocate(size_t n, cl_svm_mem_flags more = 0) {
  auto* const p = static_cast<T*>(clSVMAlloc(g_context, CL_MEM_READ_WRITE | more, n * sizeof(T), 0));
  if (!p) std::fprintf(stderr, "no shared memory\n"), std::exit(1);
  return p;
}
inline void map(void* p, size_t bytes, cl_map_flags flags) {
  CHECK(clEnqueueSVMMap(g_queue, CL_TRUE, flags, p, bytes, 0, nullptr, nullptr));
}
inline void unmap(void* p) { CHECK(clEnqueueSVMUnmap(g_queue, p, 0, nullptr, nullptr)); }
// What the device has, whatever is here.
inline uint64_t contents(void* p, size_t bytes) {
  map(p, bytes, CL_MAP_READ);
  const uint64_t h = digest(p, bytes);
  unmap(p);
  return h;
}

inline void say(const char* what, cl_int code) { std::printf("%s %d\n", what, code); }
inline void say(const std::string& what, cl_int code) { say(what.c_str(), code); }

// `all`: in a context of all devices, not of the first.
inline void open_world(bool all) {
  cl_platform_id platform = nullptr;
  cl_uint devices = 0;
  std::vector<cl_device_id> found(8);
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, found.data(), &devices));
  g_device = found[0];
  cl_int err = 0;
  g_context = clCreateContext(nullptr, all ? devices : 1, found.data(), nullptr, nullptr, &err);
  CHECK(err);
  g_queue = clCreateCommandQueue(g_context, g_device, 0, &err);
  CHECK(err);
  const char* source = Source;
  g_program = clCreateProgramWithSource(g_context, 1, &source, nullptr, &err);
  CHECK(err);
  CHECK(clBuildProgram(g_program, 0, nullptr, "", nullptr, nullptr));
}
inline void close_world() {
  CHECK(clReleaseProgram(g_program));
  CHECK(clReleaseCommandQueue(g_queue));
  CHECK(clReleaseContext(g_context));
  std::printf("end\n");
}
