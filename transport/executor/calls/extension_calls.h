// Calls of functions that only some drivers have: command buffers and semaphores (cl_khr_command_buffer,
// ..._mutable_dispatch, cl_khr_semaphore). Each is made on the driver of its device, in the form that this has.
// Thread safety: none; the control channel uses it.
#pragma once

#include <map>
#include <span>

#include "traces/api/decode.h"
#include "transport/executor/base/commands.h"

namespace gt::exec {

class ExtensionCalls {
 public:
  using Args = std::span<const api::DecodedArg>;
  explicit ExtensionCalls(Commands& commands) : commands_(commands) {}

  // What may stand between the call and a driver that would not look: CL_SUCCESS, or its answer.
  cl_int check(api::FnId fn, Args args);
  // What takes the arguments of the table's function, on this thread, until the next call of function(). nullptr: its
  // driver does not have it.
  AnyFunction function(api::FnId fn, Args args);
  // The queue that a run of a command buffer is in; nullptr: another call.
  std::shared_ptr<Queue> queue(api::FnId fn, Args args);
  // For a launch that is about to be recorded: a kernel of its own, with the arguments as they are now.
  cl_kernel recorded_kernel() const { return recorded_kernel_; }
  // The call was made (else drop_kernel()), and `result` is the name of what it made.
  void note(api::FnId fn, Args args, ByteView outputs, ObjectId result);

  void drop_kernel();
  void run(const wire::Update& update);

 private:
  std::shared_ptr<const ExtensionDriver> driver(cl_device_id device);
  std::shared_ptr<const ExtensionDriver> driver(api::FnId fn, Args args);
  cl_int check_launch(Args args);
  void take_kernel(Args args);
  CommandBuffer* command_buffer(const api::DecodedArg& arg);

  Commands& commands_;
  cl_kernel recorded_kernel_ = nullptr;
  std::map<cl_device_id, std::shared_ptr<const ExtensionDriver>> drivers_;
};

}  // namespace gt::exec
