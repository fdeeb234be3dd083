// One device opened for measuring: its context, two queues, and what OpenCL's objects and errors are here.
// Thread safety: none.
#pragma once

#include <memory>
#include <type_traits>

#include "microbench/base/devices.h"
#include "transport/memory/host_block.h"

namespace gt::bench {

template <auto Release>
struct Releaser {
  template <class T>
  void operator()(T* object) const { Release(object); }
};
template <class Handle, auto Release>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Releaser<Release>>;
using Context = Owned<cl_context, &clReleaseContext>;
using Queue = Owned<cl_command_queue, &clReleaseCommandQueue>;
using Mem = Owned<cl_mem, &clReleaseMemObject>;
using ClProgram = Owned<cl_program, &clReleaseProgram>;
using Kernel = Owned<cl_kernel, &clReleaseKernel>;

// The functions of OpenCL 2.0 that the loader may lack.
struct SvmFunctions {
  decltype(&::clSVMAlloc) allocate = nullptr;
  decltype(&::clSVMFree) release = nullptr;
  decltype(&::clEnqueueSVMMemcpy) copy = nullptr;
};

// Ok for CL_SUCCESS. Unsupported when the device cannot do this, or not at this size; OpenCl when it failed.
Status cl_status(const char* call, cl_int err);

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(const Device& device);

  const Device& device() const { return device_; }
  cl_context context() const { return context_.get(); }
  cl_command_queue queue() const { return queue_.get(); }
  cl_command_queue second_queue() const { return second_.get(); }
  const memory::ClPlace& place() const { return place_; }
  // Without any when the device has no shared virtual memory.
  const SvmFunctions& svm() const { return svm_; }

  Result<Mem> buffer(uint64_t bytes) const;

  // One blocking transfer of the beginning of `buffer`.
  Status write(cl_mem buffer, const void* from, size_t bytes) const;
  Status read(cl_mem buffer, void* to, size_t bytes) const;
  Status finish() const;

 private:
  explicit Session(const Device& device) : device_(device) {}
  Status open();

  const Device& device_;
  Context context_;
  Queue queue_, second_;
  memory::ClPlace place_;
  SvmFunctions svm_;
};

}  // namespace gt::bench
