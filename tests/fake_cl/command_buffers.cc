// The fake's command buffers: launches of kernels, whose arguments may be changed.
#include <algorithm>
#include <cstring>
#include <deque>

#include <CL/cl_ext.h>

#include "tests/fake_cl/driver.h"

// One launch: the kernel as it was when it was recorded.
struct _cl_mutable_command_khr {
  _cl_kernel kernel;
};
struct _cl_command_buffer_khr : gt::fake::Object {
  std::deque<_cl_mutable_command_khr> commands;  // their addresses are handles
  bool final = false;
};

namespace gt::fake {

cl_command_buffer_khr fake_clCreateCommandBufferKHR(cl_uint queues, const cl_command_queue* list,
                                                    const cl_command_buffer_properties_khr*, cl_int* err) {
  const bool good = queues == 1 && list && list[0];
  if (err) *err = good ? CL_SUCCESS : CL_INVALID_VALUE;
  return good ? new _cl_command_buffer_khr : nullptr;
}

cl_int fake_clFinalizeCommandBufferKHR(cl_command_buffer_khr buffer) {
  if (!buffer) return CL_INVALID_COMMAND_BUFFER_KHR;
  buffer->final = true;
  return CL_SUCCESS;
}

cl_int fake_clReleaseCommandBufferKHR(cl_command_buffer_khr buffer) {
  if (!buffer) return CL_INVALID_COMMAND_BUFFER_KHR;
  Ref<_cl_command_buffer_khr>::release(buffer);
  return CL_SUCCESS;
}

cl_int fake_clCommandNDRangeKernelKHR(cl_command_buffer_khr buffer, cl_command_queue,
                                      const cl_ndrange_kernel_command_properties_khr*, cl_kernel kernel, cl_uint,
                                      const size_t*, const size_t* size, const size_t*, cl_uint,
                                      const cl_sync_point_khr*, cl_sync_point_khr*, cl_mutable_command_khr* command) {
  if (!buffer || buffer->final) return CL_INVALID_COMMAND_BUFFER_KHR;
  if (!kernel) return CL_INVALID_KERNEL;
  if (!size) return CL_INVALID_VALUE;
  _cl_mutable_command_khr& made = buffer->commands.emplace_back();
  made.kernel.program = Ref<_cl_program>(kernel->program.get());
  made.kernel.source = kernel->source;
  made.kernel.args = kernel->args;
  if (command) *command = &made;
  return CL_SUCCESS;
}

namespace {

cl_int change(cl_mutable_command_khr command, cl_uint count, const cl_mutable_dispatch_arg_khr* list) {
  for (cl_uint a = 0; a < count; ++a) {
    auto& args = command->kernel.args;
    if (list[a].arg_index >= args.size()) return CL_INVALID_ARG_INDEX;
    const auto* bytes = static_cast<const uint8_t*>(list[a].arg_value);
    args[list[a].arg_index].assign(bytes, bytes + list[a].arg_size);
  }
  return CL_SUCCESS;
}

// The beginning of cl_mutable_dispatch_config_khr since version 0.9.2.
struct LaterConfig {
  cl_mutable_command_khr command;
  cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
  const cl_mutable_dispatch_arg_khr* arg_list;
};

cl_int later_update(cl_command_buffer_khr buffer, cl_uint count, const cl_uint* types, const void** configs) {
  if (!buffer || !buffer->final) return CL_INVALID_COMMAND_BUFFER_KHR;
  for (cl_uint i = 0; i < count; ++i) {
    if (types[i] != 0) return CL_INVALID_VALUE;
    const auto* config = static_cast<const LaterConfig*>(configs[i]);
    const cl_int code = change(config->command, config->num_args, config->arg_list);
    if (code != CL_SUCCESS) return code;
  }
  return CL_SUCCESS;
}

cl_int later_barrier(cl_command_buffer_khr buffer, cl_command_queue, const cl_properties* properties, cl_uint n,
                     const cl_sync_point_khr* list, cl_sync_point_khr* point, cl_mutable_command_khr*) {
  if (!buffer || buffer->final) return CL_INVALID_COMMAND_BUFFER_KHR;
  if (properties && *properties != 0) return CL_INVALID_PROPERTY;
  if ((n == 0) != !list) return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
  if (point) *point = n == 0 ? 7 : list[0] + 1;
  return CL_SUCCESS;
}

}  // namespace

void* later_form(const char* name) {
  if (std::strcmp(name, "clUpdateMutableCommandsKHR") == 0) return reinterpret_cast<void*>(&later_update);
  if (std::strcmp(name, "clCommandBarrierWithWaitListKHR") == 0) return reinterpret_cast<void*>(&later_barrier);
  return nullptr;
}

cl_int fake_clUpdateMutableCommandsKHR(cl_command_buffer_khr buffer, const cl_mutable_base_config_khr* config) {
  if (!buffer || !buffer->final) return CL_INVALID_COMMAND_BUFFER_KHR;
  if (!config) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < config->num_mutable_dispatch; ++i) {
    const cl_mutable_dispatch_config_khr& dispatch = config->mutable_dispatch_list[i];
    if (const cl_int code = change(dispatch.command, dispatch.num_args, dispatch.arg_list); code != CL_SUCCESS)
      return code;
  }
  return CL_SUCCESS;
}

// Runs at once, whatever it should wait for.
cl_int fake_clEnqueueCommandBufferKHR(cl_uint, cl_command_queue*, cl_command_buffer_khr buffer, cl_uint,
                                      const cl_event*, cl_event*) {
  if (!buffer || !buffer->final) return CL_INVALID_COMMAND_BUFFER_KHR;
  for (_cl_mutable_command_khr& command : buffer->commands) run_kernel(&command.kernel);
  return CL_SUCCESS;
}

}  // namespace gt::fake
