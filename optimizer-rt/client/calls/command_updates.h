// Changes of commands in a command buffer, in either form that clUpdateMutableCommandsKHR has had.
// Thread safety: no state.
#pragma once

#include <CL/cl_ext.h>

#include <span>

#include "optimizer-rt/client/calls/command_buffer.h"

namespace gt::virt {

// cl_mutable_dispatch_config_khr since version 0.9.2 of the extension.
struct DispatchChange {
  cl_mutable_command_khr command;
  cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
  const cl_mutable_dispatch_arg_khr *arg_list, *arg_svm_list;
  const cl_mutable_dispatch_exec_info_khr* exec_info_list;
  const size_t *global_work_offset, *global_work_size, *local_work_size;
};

// All or none; throws what is wrong.
cl_int update_commands(cl_command_buffer_khr buffer, std::span<const DispatchChange> changes);

}  // namespace gt::virt
