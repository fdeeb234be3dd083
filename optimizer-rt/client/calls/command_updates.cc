// Commands in a command buffer: what they are, and how they change (cl_khr_command_buffer_mutable_dispatch).
#include <algorithm>
#include <utility>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/calls/arguments.h"
#include "optimizer-rt/client/calls/command_updates.h"
#include "optimizer-rt/client/calls/recording.h"
#include "optimizer-rt/client/transfer/peer_mapped.h"

namespace gt::virt {
namespace {

using api::FnId;

// What an update asks for, and what it makes of the contents that the command buffer uses.
struct Change {
  wire::CommandUpdate message;
  std::vector<ArgValue> values;  // what `message` points into
  std::vector<std::pair<_cl_mem*, bool>> memory;
};

void add_argument(Change& change, _cl_mutable_command_khr& command, cl_uint index, ArgValue value) {
  _cl_kernel& kernel = *command.kernel;
  if (value.form == ArgValue::Form::Mem && value.mem) {
    keep_in_place(*value.mem);
    change.memory.emplace_back(value.mem, is_written(kernel, index, *value.mem));
  }
  change.values.push_back(std::move(value));
  change.message.args.push_back(message_of(index, change.values.back(), command.buffer.sub_context));
}

void add_sizes(Change& change, const DispatchChange& asked) {
  change.message.dimensions = static_cast<uint8_t>(asked.work_dim);
  const auto take = [&](std::array<uint64_t, 3>& to, const size_t* from, uint8_t bit) {
    if (!from) return;
    require(asked.work_dim >= 1 && asked.work_dim <= to.size(), CL_INVALID_WORK_DIMENSION);
    std::copy_n(from, asked.work_dim, to.begin());
    change.message.given |= bit;
  };
  take(change.message.offset, asked.global_work_offset, 1);
  take(change.message.global, asked.global_work_size, 2);
  take(change.message.local, asked.local_work_size, 4);
  if (change.message.given == 0) change.message.dimensions = 0;
}

Change change_of(_cl_command_buffer_khr& buffer, const DispatchChange& asked) {
  _cl_mutable_command_khr& command = check(asked.command);
  require(&command.buffer == &buffer && command.kernel, CL_INVALID_MUTABLE_COMMAND_KHR);
  require(asked.num_exec_infos == 0, CL_INVALID_OPERATION);  // the device does not list that they may change
  require((asked.num_args == 0) == !asked.arg_list && (asked.num_svm_args == 0) == !asked.arg_svm_list,
          CL_INVALID_VALUE);
  Change change;
  change.message.command = command.name;
  change.values.reserve(size_t{asked.num_args} + asked.num_svm_args);
  for (cl_uint i = 0; i < asked.num_args; ++i) {
    const cl_mutable_dispatch_arg_khr& arg = asked.arg_list[i];
    add_argument(change, command, arg.arg_index,
                 argument_value(*command.kernel, arg.arg_index, arg.arg_size, arg.arg_value));
  }
  for (cl_uint i = 0; i < asked.num_svm_args; ++i) {
    const cl_mutable_dispatch_arg_khr& arg = asked.arg_svm_list[i];
    add_argument(change, command, arg.arg_index, svm_argument(*command.kernel, arg.arg_index, arg.arg_value));
  }
  add_sizes(change, asked);
  return change;
}

}  // namespace

cl_int update_commands(cl_command_buffer_khr buffer, std::span<const DispatchChange> asked) {
  check(buffer);
  require(!asked.empty(), CL_INVALID_VALUE);
  std::vector<Change> changes;
  for (const DispatchChange& one : asked) changes.push_back(change_of(*buffer, one));
  wire::Update message;
  message.command_buffer = buffer->name;
  for (const Change& change : changes) message.commands.push_back(change.message);
  require_success(buffer->sub_context.session.update(message));
  const MutexLock lock(buffer->mutex);
  for (const Change& change : changes)
    for (const auto& [mem, written] : change.memory) note_use(*buffer, *mem, written);
  return CL_SUCCESS;
}

namespace fn {

cl_int clUpdateMutableCommandsKHR(cl_command_buffer_khr buffer, const cl_mutable_base_config_khr* config) {
  check(buffer);
  require(config && config->type == CL_STRUCTURE_TYPE_MUTABLE_BASE_CONFIG_KHR && !config->next, CL_INVALID_VALUE);
  require(config->num_mutable_dispatch == 0 || config->mutable_dispatch_list, CL_INVALID_VALUE);
  std::vector<DispatchChange> all;
  for (cl_uint i = 0; i < config->num_mutable_dispatch; ++i) {
    const cl_mutable_dispatch_config_khr& c = config->mutable_dispatch_list[i];
    require(c.type == CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR && !c.next, CL_INVALID_VALUE);
    all.push_back({c.command, c.num_args, c.num_svm_args, c.num_exec_infos, c.work_dim, c.arg_list, c.arg_svm_list,
                   c.exec_info_list, c.global_work_offset, c.global_work_size, c.local_work_size});
  }
  return update_commands(buffer, all);
}

cl_int clGetMutableCommandInfoKHR(cl_mutable_command_khr command, cl_mutable_command_info_khr name, size_t room,
                                  void* value, size_t* size_ret) {
  check(command);
  const Answer answer(room, value, size_ret);
  if (name == CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR) return answer.value(command->queue.get());
  if (name == CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR) return answer.value(&command->buffer);
  if (name == CL_MUTABLE_DISPATCH_KERNEL_KHR) return answer.value(command->kernel.get());
  size_t size = 0;
  int wanted = 0;
  const Bytes outputs = command->buffer.sub_context.session.ask<FnId::clGetMutableCommandInfoKHR>(
      {}, as<cl_mutable_command_khr>(command->name), name, LargestInfo, static_cast<void*>(&wanted), &size);
  const InfoAnswer told = info_of(FnId::clGetMutableCommandInfoKHR, outputs);
  require_success(told.code);
  return answer.bytes(told.value);
}

}  // namespace fn
}  // namespace gt::virt
