// A device that a test program talks to, and data that proves itself: what the programs beside it share.
#pragma once

#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/e2e/optimizer/first_device.h"

constexpr size_t MiB = size_t{1} << 20;

inline void check(bool good, const char* what) {
  if (good) return;
  std::printf("%s failed\n", what);
  std::fflush(stdout);
  std::_Exit(1);
}

// A device with a queue and a buffer.
struct Link : FirstDevice {
  cl_command_queue queue = nullptr;
  cl_mem mem = nullptr;

  explicit Link(size_t bytes = 8 * MiB) {
    cl_int err = CL_SUCCESS;
    open();
    queue = clCreateCommandQueue(context, device, 0, &err);
    must(err, "clCreateCommandQueue");
    mem = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &err);
    must(err, "clCreateBuffer");
  }
  ~Link() {
    clReleaseMemObject(mem);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void write(const void* p, size_t bytes, bool blocking = true) {
    must(clEnqueueWriteBuffer(queue, mem, blocking, 0, bytes, p, 0, nullptr, nullptr), "write");
  }
  void read(void* p, size_t bytes) {
    must(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, bytes, p, 0, nullptr, nullptr), "read");
  }
  cl_uint references() {
    cl_uint n = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, nullptr);
    return n;
  }
};

inline void fill(void* p, size_t bytes, unsigned seed) {
  auto* words = static_cast<unsigned*>(p);
  for (size_t i = 0; i < bytes / sizeof *words; ++i) words[i] = seed * 2654435761u + static_cast<unsigned>(i);
}
inline bool filled(const void* p, size_t bytes, unsigned seed) {
  const auto* words = static_cast<const unsigned*>(p);
  for (size_t i = 0; i < bytes / sizeof *words; ++i)
    if (words[i] != seed * 2654435761u + static_cast<unsigned>(i)) return false;
  return true;
}

// Three transfers of `p`: two writes of different contents, one read into it.
inline void use(Link& link, void* p, size_t bytes, unsigned seed) {
  fill(p, bytes, seed);
  link.write(p, bytes);
  fill(p, bytes, seed + 1);
  link.write(p, bytes);
  std::memset(p, 0, bytes);
  link.read(p, bytes);
  check(filled(p, bytes, seed + 1), "comparison");
}
