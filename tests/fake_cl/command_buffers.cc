// The fake's command buffers: launches of kernels, whose arguments and sizes may be changed.
//
// Here alone there is the kernel "stamp": bytes of argument 0 (a buffer) get those of argument 1, any number of them in
// turn, each as often as there are work-items in a group, from the launch's offset on; and of argument 2 (an address in
// shared memory), where there is one.
#include <algorithm>
#include <cstring>
#include <deque>

#include <CL/cl_ext.h>

#include "tests/fake_cl/driver.h"

// One launch: the kernel as it was when it was recorded.
struct _cl_mutable_command_khr {
  _cl_kernel kernel;
  size_t offset = 0, global = 0, local = 0;
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

namespace {

void set_sizes(_cl_mutable_command_khr& command, const size_t* offset, const size_t* global, const size_t* local) {
  if (offset) command.offset = *offset;
  if (global) command.global = *global;
  if (local) command.local = *local;
}

template <class T>
T value_of(const _cl_kernel& kernel, size_t index) {
  T value{};
  if (index < kernel.args.size() && kernel.args[index].size() == sizeof value)
    std::memcpy(&value, kernel.args[index].data(), sizeof value);
  return value;
}

void stamp(const _cl_mutable_command_khr& command) {
  const auto mem = value_of<cl_mem>(command.kernel, 0);
  auto* const shared = value_of<uint8_t*>(command.kernel, 2);
  const std::vector<uint8_t>& with = command.kernel.args[1];
  if (!mem || with.empty()) return;
  const size_t end = std::min(command.offset + command.global, mem->size), group = std::max(command.local, size_t{1});
  for (size_t i = command.offset; i < end; ++i) {
    mem->data[i] = with[i / group % with.size()];
    if (shared) shared[i] = mem->data[i];
  }
}

}  // namespace

cl_int fake_clCommandNDRangeKernelKHR(cl_command_buffer_khr buffer, cl_command_queue,
                                      const cl_ndrange_kernel_command_properties_khr*, cl_kernel kernel, cl_uint,
                                      const size_t* offset, const size_t* size, const size_t* local, cl_uint,
                                      const cl_sync_point_khr*, cl_sync_point_khr*, cl_mutable_command_khr* command) {
  if (!buffer || buffer->final) return CL_INVALID_COMMAND_BUFFER_KHR;
  if (!kernel) return CL_INVALID_KERNEL;
  if (!size) return CL_INVALID_VALUE;
  _cl_mutable_command_khr& made = buffer->commands.emplace_back();
  made.kernel.program = Ref<_cl_program>(kernel->program.get());
  made.kernel.source = kernel->source;
  made.kernel.args = kernel->args;
  set_sizes(made, offset, size, local);
  if (command) *command = &made;
  return CL_SUCCESS;
}

namespace {

cl_int change(cl_mutable_command_khr command, cl_uint count, const cl_mutable_dispatch_arg_khr* list) {
  for (cl_uint a = 0; a < count; ++a) {
    auto& args = command->kernel.args;
    if (list[a].arg_index >= args.size()) return CL_INVALID_ARG_INDEX;
    const auto* bytes = static_cast<const uint8_t*>(list[a].arg_value);
    if (!bytes)
      args[list[a].arg_index].clear();  // local memory
    else
      args[list[a].arg_index].assign(bytes, bytes + list[a].arg_size);
  }
  return CL_SUCCESS;
}

cl_int change_addresses(cl_mutable_command_khr command, cl_uint count, const cl_mutable_dispatch_arg_khr* list) {
  for (cl_uint a = 0; a < count; ++a) {
    const cl_mutable_dispatch_arg_khr argument{list[a].arg_index, sizeof(void*), &list[a].arg_value};
    if (const cl_int code = change(command, 1, &argument); code != CL_SUCCESS) return code;
  }
  return CL_SUCCESS;
}

// cl_mutable_dispatch_config_khr since version 0.9.2.
struct LaterConfig {
  cl_mutable_command_khr command;
  cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
  const cl_mutable_dispatch_arg_khr *arg_list, *arg_svm_list;
  const cl_mutable_dispatch_exec_info_khr* exec_info_list;
  const size_t *global_work_offset, *global_work_size, *local_work_size;
};

template <class Config>
cl_int change(const Config& config) {
  if (!config.command) return CL_INVALID_MUTABLE_COMMAND_KHR;
  for (cl_uint i = 0; i < config.num_exec_infos; ++i)
    if (!config.exec_info_list[i].param_value) return CL_INVALID_VALUE;
  cl_int code = change(config.command, config.num_args, config.arg_list);
  if (code == CL_SUCCESS) code = change_addresses(config.command, config.num_svm_args, config.arg_svm_list);
  if (code == CL_SUCCESS)
    set_sizes(*config.command, config.global_work_offset, config.global_work_size, config.local_work_size);
  return code;
}

cl_int later_update(cl_command_buffer_khr buffer, cl_uint count, const cl_uint* types, const void** configs) {
  if (!buffer || !buffer->final) return CL_INVALID_COMMAND_BUFFER_KHR;
  for (cl_uint i = 0; i < count; ++i) {
    if (types[i] != 0) return CL_INVALID_VALUE;
    const cl_int code = change(*static_cast<const LaterConfig*>(configs[i]));
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
    if (const cl_int code = change(dispatch); code != CL_SUCCESS) return code;
  }
  return CL_SUCCESS;
}

// Runs at once, whatever it should wait for.
cl_int fake_clEnqueueCommandBufferKHR(cl_uint, cl_command_queue*, cl_command_buffer_khr buffer, cl_uint,
                                      const cl_event*, cl_event*) {
  if (!buffer || !buffer->final) return CL_INVALID_COMMAND_BUFFER_KHR;
  for (_cl_mutable_command_khr& command : buffer->commands)
    command.kernel.source.name == "stamp" ? stamp(command) : run_kernel(&command.kernel);
  return CL_SUCCESS;
}

}  // namespace gt::fake
