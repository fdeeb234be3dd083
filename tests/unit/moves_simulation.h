// Two devices of the fake driver, for tests of moves between them. A command runs only when somebody waits for it, so
// that a slot that is used again too early shows; a fake CUDA knows who may reach what. Any call can be refused.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fake_cl/fake_cuda.h"
#include "tests/fake_cl/table.h"
#include "transport/moves/native_moves.h"

namespace gt::moves {

constexpr size_t KiB = 1024, MiB = 1024 * KiB;

struct Reads {
  size_t largest = 0, most_waiting = 0;
  std::chrono::microseconds bus{0};  // each takes so much longer
};
inline Reads reads;
inline fake::Cuda& gpu = fake::cuda();

inline void start_anew() {
  fake::start_anew();
  fake::start_cuda_anew();
  fake::Behaviour& behaviour = fake::behaviour();
  behaviour.devices = 2;
  behaviour.runs = fake::Behaviour::Runs::WhenWaitedFor;
  behaviour.imports_memory = true;
  reads = {};
}

inline char* bytes_of(cl_mem mem) { return reinterpret_cast<char*>(mem->data); }

// Memory of the program as a buffer.
class HostBuffer {
 public:
  explicit HostBuffer(std::vector<char>& of)
      : mem(fake::fake_clCreateBuffer(fake::any_context(), CL_MEM_USE_HOST_PTR, of.size(), of.data(), nullptr)) {}
  ~HostBuffer() { fake::fake_clReleaseMemObject(mem); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  const cl_mem mem;
};

inline ClFunctions functions() {
  ClFunctions f = fake::table();
  f.clCreateBuffer = [](cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* code) {
    CHECK(flags == (CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0)));
    return ::clCreateBuffer(context, flags, size, host, code);
  };
  f.clEnqueueReadBuffer = [](cl_command_queue q, cl_mem mem, cl_bool blocking, size_t offset, size_t size, void* to,
                             cl_uint n, const cl_event* list, cl_event* event) {
    reads.largest = std::max(reads.largest, size);
    reads.most_waiting = std::max(reads.most_waiting, fake::held_commands(CL_COMMAND_READ_BUFFER) + 1);
    std::this_thread::sleep_for(reads.bus);
    return ::clEnqueueReadBuffer(q, mem, blocking, offset, size, to, n, list, event);
  };
  // Refused when what is waited for is over.
  f.clWaitForEvents = [](cl_uint n, const cl_event* events) {
    const cl_int code = ::clWaitForEvents(n, events);
    return fake::refuse() ? CL_OUT_OF_RESOURCES : code;
  };
  return f;
}

}  // namespace gt::moves
