// What is kept of a client's command buffer: its driver's functions, its queues, what has been recorded.
//
// Ownership: keeps a reference to the native command buffer; the native commands in it are its own.
// Thread safety: none; the control channel uses it.
#pragma once

#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "transport/executor/base/extension_driver.h"
#include "transport/executor/base/queue.h"

namespace gt::exec {

struct CommandBuffer {
  CommandBuffer(const Cl& opencl, std::shared_ptr<const ExtensionDriver> functions, cl_command_buffer_khr buffer)
      : cl(opencl), driver(std::move(functions)), handle(buffer) {}
  ~CommandBuffer() {
    if (const AnyFunction release = (*driver)[api::FnId::clReleaseCommandBufferKHR])
      reinterpret_cast<clReleaseCommandBufferKHR_fn>(release)(handle);
    for (const cl_kernel kernel : kernels) cl.clReleaseKernel(kernel);
  }
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;

  // PoCL 3.1 reads outside its list for one that it never gave.
  bool has(cl_sync_point_khr point) const { return sync_points.contains(point); }

  const Cl& cl;
  const std::shared_ptr<const ExtensionDriver> driver;
  const cl_command_buffer_khr handle;
  std::vector<std::shared_ptr<Queue>> queues;
  std::unordered_set<cl_sync_point_khr> sync_points;  // that the driver gave
  std::vector<wire::ObjectId> commands;               // that have names
  // Of recorded launches, one each: PoCL 3.1 runs them with the arguments that their kernel has then.
  std::vector<cl_kernel> kernels;
};

}  // namespace gt::exec
