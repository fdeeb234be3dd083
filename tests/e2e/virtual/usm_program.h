// What the test programs of unified shared memory share: one device, a context, a queue, kernels, and the functions of
// cl_intel_unified_shared_memory, by name.
#pragma once

#include <CL/cl_ext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/e2e/virtual/memory_program.h"

inline cl_platform_id g_platform;

struct Usm {
  clHostMemAllocINTEL_fn host;
  clDeviceMemAllocINTEL_fn device;
  clSharedMemAllocINTEL_fn shared;
  clMemFreeINTEL_fn free;
  clMemBlockingFreeINTEL_fn blocking_free;
  clGetMemAllocInfoINTEL_fn info;
  clSetKernelArgMemPointerINTEL_fn set_pointer;
  clEnqueueMemsetINTEL_fn set;
  clEnqueueMemFillINTEL_fn fill;
  clEnqueueMemcpyINTEL_fn copy;
  clEnqueueMigrateMemINTEL_fn migrate;
  clEnqueueMemAdviseINTEL_fn advise;
};
inline Usm usm;

inline const char* const Source = R"(
typedef struct Node { global struct Node* next; ulong value; } Node;
kernel void walk(global Node* n, global ulong* sum) {
  ulong all = 0;
  for (; n; n = n->next) { all = all * 3 + n->value; n->value += 1; }
  *sum = all;
}
kernel void chain(global Node* nodes, int n) {
  for (int i = 0; i < n; ++i) { nodes[i].next = i + 1 < n ? nodes + (i * 7 + 3) % n : 0; nodes[i].value = i * i; }
}
kernel void count(global uchar* p, int by) { p[get_global_id(0)] += get_global_id(0) * by; }
kernel void total(global const uchar* p, ulong n, global ulong* sum) {
  ulong all = 0;
  for (ulong i = 0; i < n; ++i) all = all * 31 + p[i];
  *sum = all;
}
kernel void slow(global uint* p, uint rounds) {
  uint x = p[0];
  for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  p[0] = x;
}
)";

template <class F>
void find_function(F& function, const char* name) {
  function = reinterpret_cast<F>(clGetExtensionFunctionAddressForPlatform(g_platform, name));
  if (!function) std::fprintf(stderr, "no %s\n", name), std::exit(1);
}

inline void open_world() {
  g_platform = open_first_device(g_device, g_context, g_queue);
  find_function(usm.host, "clHostMemAllocINTEL");
  find_function(usm.device, "clDeviceMemAllocINTEL");
  find_function(usm.shared, "clSharedMemAllocINTEL");
  find_function(usm.free, "clMemFreeINTEL");
  find_function(usm.blocking_free, "clMemBlockingFreeINTEL");
  find_function(usm.info, "clGetMemAllocInfoINTEL");
  find_function(usm.set_pointer, "clSetKernelArgMemPointerINTEL");
  find_function(usm.set, "clEnqueueMemsetINTEL");
  find_function(usm.fill, "clEnqueueMemFillINTEL");
  find_function(usm.copy, "clEnqueueMemcpyINTEL");
  find_function(usm.migrate, "clEnqueueMigrateMemINTEL");
  find_function(usm.advise, "clEnqueueMemAdviseINTEL");
  cl_int err = 0;
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

enum class Kind { Device, Host, Shared };
inline const char* name_of(Kind kind) {
  return kind == Kind::Device ? "device" : kind == Kind::Host ? "host" : "shared";
}

template <class T = uint8_t>
T* allocate(Kind kind, size_t n) {
  cl_int err = CL_SUCCESS;
  const size_t bytes = n * sizeof(T);
  void* const p = kind == Kind::Device ? usm.device(g_context, g_device, nullptr, bytes, 0, &err)
                  : kind == Kind::Host ? usm.host(g_context, nullptr, bytes, 0, &err)
                                       : usm.shared(g_context, g_device, nullptr, bytes, 0, &err);
  check(err, name_of(kind), __LINE__);
  return static_cast<T*>(p);
}
inline void release(void* p) { CHECK(usm.free(g_context, p)); }

// What the device has there.
inline std::vector<uint8_t> bytes_of(const void* p, size_t bytes) {
  std::vector<uint8_t> out(bytes);
  CHECK(usm.copy(g_queue, CL_TRUE, out.data(), p, bytes, 0, nullptr, nullptr));
  return out;
}
inline uint64_t contents(const void* p, size_t bytes) { return digest(bytes_of(p, bytes).data(), bytes); }
inline void put(void* p, const void* from, size_t bytes) {
  CHECK(usm.copy(g_queue, CL_TRUE, p, from, bytes, 0, nullptr, nullptr));
}
inline void count(void* p, size_t items, cl_int by) {
  static cl_kernel k = kernel("count");
  CHECK(usm.set_pointer(k, 0, p));
  CHECK(clSetKernelArg(k, 1, sizeof by, &by));
  launch(k, items);
}

// --- Programs of several parts, one of which the first argument names ---

constexpr size_t OddBytes = 200'000;

// p[i] = i * by, for all.
inline bool is_counted(const uint8_t* p, size_t bytes, size_t by, size_t from = 0) {
  for (size_t i = 0; i < bytes; ++i)
    if (p[i] != static_cast<uint8_t>(i * by + from)) return false;
  return true;
}
inline void write_counted(uint8_t* p, size_t bytes, size_t by, size_t from = 0) {
  for (size_t i = 0; i < bytes; ++i) p[i] = static_cast<uint8_t>(i * by + from);
}
inline void say(const char* what, cl_int code) { std::printf("%s %d\n", what, code); }

struct UsmPart {
  const char* name;
  void (*run)();
};
template <size_t N>
void run_part(const char* name, const UsmPart (&parts)[N]) {
  open_world();
  for (const UsmPart& part : parts)
    if (name && std::string(name) == part.name) part.run();
  close_world();
}
