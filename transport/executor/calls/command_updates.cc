// Update messages: clUpdateMutableCommandsKHR, in either of its forms.
#include <deque>

#include "traces/api/later_forms.h"
#include "transport/executor/calls/extension_calls.h"
#include "transport/executor/calls/launches.h"

namespace gt::exec {
namespace {

using Form = wire::KernelArg::Form;

// As drivers take it since version 0.9.2 of the extension: without a type and a chain in front.
struct LaterConfig {
  cl_mutable_command_khr command;
  cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
  const cl_mutable_dispatch_arg_khr *arg_list, *arg_svm_list;
  const cl_mutable_dispatch_exec_info_khr* exec_info_list;
  const size_t *global_work_offset, *global_work_size, *local_work_size;
};

// The native arguments of an update, and what they point to.
class NativeUpdate {
 public:
  NativeUpdate(Objects& objects, const CommandBuffer& buffer) : objects_(objects), buffer_(buffer) {}

  cl_int add(const wire::CommandUpdate& update);
  cl_int make();

 private:
  struct Lists {
    std::vector<cl_mutable_dispatch_arg_khr> plain, svm;
  };
  cl_int add(Lists& lists, const wire::KernelArg& arg);

  Objects& objects_;
  const CommandBuffer& buffer_;
  std::deque<Lists> lists_;
  std::deque<void*> handles_;
  std::vector<cl_mutable_dispatch_config_khr> configs_;
};

cl_int NativeUpdate::add(Lists& lists, const wire::KernelArg& arg) {
  switch (arg.form) {
    case Form::Value:
      if (arg.value.empty()) return CL_INVALID_ARG_SIZE;
      lists.plain.push_back({arg.index, arg.value.size(), arg.value.data()});
      return CL_SUCCESS;
    case Form::Local:
      lists.plain.push_back({arg.index, arg.size, nullptr});
      return CL_SUCCESS;
    case Form::Svm:
      if (arg.object != 0 && !objects_.find_svm(arg.object)) return CL_INVALID_ARG_VALUE;
      lists.svm.push_back({arg.index, sizeof(void*), reinterpret_cast<const void*>(arg.object)});
      return CL_SUCCESS;
    case Form::Object: {
      const Object* object = objects_.find(arg.object, ObjectKind::Buffer);
      if (!object) object = objects_.find(arg.object, ObjectKind::Sampler);
      if (arg.object != 0 && !object) return CL_INVALID_MEM_OBJECT;
      handles_.push_back(object ? object->handle : nullptr);
      lists.plain.push_back({arg.index, sizeof(void*), &handles_.back()});
      return CL_SUCCESS;
    }
    default:
      return CL_INVALID_ARG_VALUE;
  }
}

cl_int NativeUpdate::add(const wire::CommandUpdate& update) {
  const Object* const command = objects_.find(update.command, ObjectKind::MutableCommand);
  if (!command || command->command_buffer.get() != &buffer_ || !command->kernel) return CL_INVALID_MUTABLE_COMMAND_KHR;
  if (update.dimensions > 3 || (update.dimensions == 0 && update.given != 0)) return CL_INVALID_VALUE;
  Lists& lists = lists_.emplace_back();
  for (const wire::KernelArg& arg : update.args) {
    if (!may_be(*command->kernel, arg)) return CL_INVALID_ARG_VALUE;
    if (const cl_int code = add(lists, arg); code != CL_SUCCESS) return code;
  }
  const auto sizes = [&](uint8_t bit, const std::array<uint64_t, 3>& a) {
    return update.given & bit ? reinterpret_cast<const size_t*>(a.data()) : nullptr;
  };
  cl_mutable_dispatch_config_khr config{};
  config.type = CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR;
  config.command = command->as<cl_mutable_command_khr>();
  config.num_args = static_cast<cl_uint>(lists.plain.size());
  config.num_svm_args = static_cast<cl_uint>(lists.svm.size());
  config.arg_list = lists.plain.empty() ? nullptr : lists.plain.data();
  config.arg_svm_list = lists.svm.empty() ? nullptr : lists.svm.data();
  config.work_dim = update.dimensions;
  config.global_work_offset = sizes(1, update.offset);
  config.global_work_size = sizes(2, update.global);
  config.local_work_size = sizes(4, update.local);
  configs_.push_back(config);
  return CL_SUCCESS;
}

cl_int NativeUpdate::make() {
  const AnyFunction function = (*buffer_.driver)[api::FnId::clUpdateMutableCommandsKHR];
  if (!function) return CL_INVALID_OPERATION;
  if (!buffer_.driver->updates_are_lists()) {
    cl_mutable_base_config_khr all{};
    all.type = CL_STRUCTURE_TYPE_MUTABLE_BASE_CONFIG_KHR;
    all.num_mutable_dispatch = static_cast<cl_uint>(configs_.size());
    all.mutable_dispatch_list = configs_.data();
    return reinterpret_cast<clUpdateMutableCommandsKHR_fn>(function)(buffer_.handle, &all);
  }
  std::vector<LaterConfig> later;
  for (const cl_mutable_dispatch_config_khr& c : configs_)
    later.push_back({c.command, c.num_args, c.num_svm_args, 0, c.work_dim, c.arg_list, c.arg_svm_list, nullptr,
                     c.global_work_offset, c.global_work_size, c.local_work_size});
  const std::vector<cl_uint> types(later.size(), api::LaterDispatchConfig);
  std::vector<const void*> each;
  for (const LaterConfig& config : later) each.push_back(&config);
  return reinterpret_cast<api::LaterUpdate>(function)(buffer_.handle, static_cast<cl_uint>(later.size()), types.data(),
                                                      each.data());
}

cl_int update_code(Objects& objects, const wire::Update& m) {
  const Object* const buffer = objects.find(m.command_buffer, ObjectKind::CommandBuffer);
  if (!buffer) return CL_INVALID_COMMAND_BUFFER_KHR;
  if (m.commands.empty()) return CL_INVALID_VALUE;
  NativeUpdate update(objects, *buffer->command_buffer);
  for (const wire::CommandUpdate& command : m.commands)
    if (const cl_int code = update.add(command); code != CL_SUCCESS) return code;
  return update.make();
}

}  // namespace

void ExtensionCalls::run(const wire::Update& m) {
  const cl_int code = update_code(commands_.objects(), m);
  if (m.reply == 0) return;
  commands_.session().out.send(wire::Reply{m.reply, {reinterpret_cast<const uint8_t*>(&code), sizeof code}});
}

}  // namespace gt::exec
