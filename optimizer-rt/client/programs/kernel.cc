#include "optimizer-rt/client/programs/kernel.h"

#include <algorithm>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/objects/habits.h"
#include "optimizer-rt/client/platform/native_device.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

namespace {

bool may_require_size(const _cl_program& program) {
  const auto has = [&](const char* word) { return program.source.find(word) != std::string::npos; };
  return !program.from_source || has("reqd_work_group_size") || has("include");
}

}  // namespace

_cl_kernel::_cl_kernel(_cl_program& p, const wire::KernelInfo& i)
    : Object(Kind),
      program(&p),
      info(i),
      may_require_size(::may_require_size(p)),
      may_write(p.may_write(i.name)),
      args(i.args.size()),
      sent(p.context->sub_contexts.size(), std::vector<uint64_t>(i.args.size())),
      reaches_sent(p.context->sub_contexts.size()),
      names_(*p.context) {
  const MutexLock lock(p.mutex);
  ++p.attached;
}

_cl_kernel::_cl_kernel(_cl_kernel& other) : _cl_kernel(*other.program, other.info) {
  const MutexLock lock(other.mutex);
  args = other.args;  // sent anew, since nothing has been sent
  versions = other.versions;
  reaches = other.reaches;
  addresses = other.addresses;
  addresses_sent = addresses.empty();
}

_cl_kernel::~_cl_kernel() {
  {
    const MutexLock lock(program->mutex);
    --program->attached;
  }
  names_.each(*program->context, [](Session& session, ObjectId name) {
    session.call<api::FnId::clReleaseKernel>({}, as<cl_kernel>(name));
  });
}

namespace {

ObjectId make_at(SubContext& sub_context, _cl_program& program, const std::string& kernel) {
  const ObjectId name = sub_context.session.new_id();
  cl_int errcode = 0;
  sub_context.session.call<api::FnId::clCreateKernel>({name}, as<cl_program>(program.at(sub_context)), kernel.c_str(),
                                                      &errcode);
  return name;
}

}  // namespace

ObjectId _cl_kernel::at(SubContext& sub_context) {
  return names_.at(sub_context, [&] { return make_at(sub_context, *program, info.name); });
}

std::map<cl_uint, size_t> _cl_kernel::local_arguments() {
  const MutexLock lock(mutex);
  std::map<cl_uint, size_t> bytes;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].form == ArgValue::Form::Local) bytes[static_cast<cl_uint>(i)] = args[i].size;
  return bytes;
}

Bytes _cl_kernel::work_group_info(_cl_device_id& device, cl_kernel_work_group_info param) {
  // Local arguments count, rounded up or not at all, as the driver likes.
  const bool of_arguments = param == CL_KERNEL_LOCAL_MEM_SIZE;
  const WorkGroupQuestion question{&device, param, of_arguments ? local_arguments() : std::map<cl_uint, size_t>{}};
  {
    const MutexLock lock(infos_mutex_);
    const auto it = infos_.find(question);
    if (it != infos_.end()) return it->second;
  }
  SubContext& sub_context = program->context->sub_context_of(&device);
  // The executor knows the arguments of the last launch there: another kernel is asked.
  const ObjectId asked = of_arguments ? make_at(sub_context, *program, info.name) : at(sub_context);
  for (const auto& [index, bytes] : question.local)
    sub_context.session.ask<api::FnId::clSetKernelArg>({}, as<cl_kernel>(asked), index, bytes,
                                                       static_cast<const void*>(nullptr));
  size_t size = 0;
  int wanted = 0;
  const Bytes outputs = sub_context.session.ask<api::FnId::clGetKernelWorkGroupInfo>(
      {}, as<cl_kernel>(asked), as<cl_device_id>(device.name), param, LargestInfo, static_cast<void*>(&wanted), &size);
  if (of_arguments) sub_context.session.call<api::FnId::clReleaseKernel>({}, as<cl_kernel>(asked));
  InfoAnswer answer = info_of(api::FnId::clGetKernelWorkGroupInfo, outputs);
  require(answer.code == CL_SUCCESS, answer.code);
  const MutexLock lock(infos_mutex_);
  return infos_[question] = answer.value;
}

namespace gt::virt::fn {
namespace {

// Of a program whose driver does not list its kernels: made for the question, and released.
wire::KernelInfo ask_kernel(_cl_program& program, const char* name) {
  SubContext& sub_context = program.context->sub_context_of(program.devices[0]);
  Session& session = sub_context.session;
  const ObjectId id = session.new_id();
  cl_int errcode = 0;
  const Bytes made =
      session.ask<api::FnId::clCreateKernel>({id}, as<cl_program>(program.at(sub_context)), name, &errcode);
  const cl_int code = creation_code(api::FnId::clCreateKernel, made);
  require_success(code);
  size_t size = 0;
  int wanted = 0;
  const Bytes told = session.ask<api::FnId::clGetKernelInfo>({}, as<cl_kernel>(id), cl_kernel_info{CL_KERNEL_NUM_ARGS},
                                                             sizeof(cl_uint), static_cast<void*>(&wanted), &size);
  session.call<api::FnId::clReleaseKernel>({}, as<cl_kernel>(id));
  const InfoAnswer args = info_of(api::FnId::clGetKernelInfo, told);
  cl_uint count = 0;
  if (args.value.size() == sizeof count) std::memcpy(&count, args.value.data(), sizeof count);
  wire::KernelInfo info;
  info.name = name;
  info.args.resize(count);
  return info;
}

wire::KernelInfo kernel_info(_cl_program& program, const char* name) {
  {
    const MutexLock lock(program.mutex);
    if (const wire::KernelInfo* const known = program.find_kernel(name)) return *known;
    require(program.kernels.empty(), CL_INVALID_KERNEL_NAME);
  }
  return ask_kernel(program, name);
}

}  // namespace

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* errcode) {
  check(program);
  require(name, CL_INVALID_VALUE);
  program->settle();
  require(program->built(), CL_INVALID_PROGRAM_EXECUTABLE);
  Ref<_cl_kernel> kernel = make<_cl_kernel>(*program, kernel_info(*program, name));
  if (program->context->one_sub_context()) kernel->at(*program->context->sub_contexts[0]);
  if (errcode) *errcode = CL_SUCCESS;
  return kernel.give();
}

cl_int clCreateKernelsInProgram(cl_program program, cl_uint n, cl_kernel* kernels, cl_uint* count) {
  check(program);
  program->settle();
  require(program->built(), CL_INVALID_PROGRAM_EXECUTABLE);
  std::vector<wire::KernelInfo> infos;
  {
    const MutexLock lock(program->mutex);
    infos = program->kernels;
  }
  const auto total = static_cast<cl_uint>(infos.size());
  require(!kernels || n >= total, CL_INVALID_VALUE);
  if (count) *count = total;
  for (cl_uint i = 0; kernels && i < total; ++i) kernels[i] = make<_cl_kernel>(*program, infos[i]).give();
  return CL_SUCCESS;
}

cl_kernel clCloneKernel(cl_kernel source, cl_int* errcode) {
  Ref<_cl_kernel> copy = make<_cl_kernel>(check(source));
  if (errcode) *errcode = CL_SUCCESS;
  return copy.give();
}

cl_int clRetainKernel(cl_kernel kernel) { return retain(kernel); }
cl_int clReleaseKernel(cl_kernel kernel) { return release(kernel); }

namespace {

std::string attributes_of(_cl_kernel& kernel) {
  SubContext& sub_context = *kernel.program->context->sub_contexts[0];
  size_t size = 0;
  int wanted = 0;
  const Bytes outputs = sub_context.session.ask<api::FnId::clGetKernelInfo>(
      {}, as<cl_kernel>(kernel.at(sub_context)), cl_kernel_info{CL_KERNEL_ATTRIBUTES}, LargestInfo,
      static_cast<void*>(&wanted), &size);
  const InfoAnswer answer = info_of(api::FnId::clGetKernelInfo, outputs);
  const std::string_view text = as_text(answer.value);
  return std::string(text.substr(0, text.find('\0')));
}

// Executors ask for what programs may not have asked for: whether it would be there natively.
bool keeps_arg_info(_cl_kernel& kernel) {
  std::vector<BuildWay> ways;
  {
    const MutexLock lock(kernel.program->mutex);
    ways = kernel.program->ways;
  }
  SubContext& sub_context = kernel.program->context->sub_context_of(kernel.program->devices[0]);
  return std::all_of(ways.begin(), ways.end(), [&](const BuildWay& way) {
    const bool asks = !way.link && way.source && way.source->find("-cl-kernel-arg-info") != way.source->npos;
    return asks || Habits(sub_context).keeps_arg_info(way);
  });
}

// The device of a query that may leave it out when there is only one.
_cl_device_id& chosen_device(_cl_kernel& kernel, cl_device_id handle) {
  const auto& devices = kernel.program->devices;
  if (!handle) {
    require(devices.size() == 1, CL_INVALID_DEVICE);
    return *devices[0];
  }
  _cl_device_id& device = device_of(handle);
  require(std::find(devices.begin(), devices.end(), &device) != devices.end(), CL_INVALID_DEVICE);
  return device;
}

}  // namespace

cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t room, void* value, size_t* size_ret) {
  check(kernel);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_KERNEL_FUNCTION_NAME:
      return answer.text(kernel->info.name);
    case CL_KERNEL_NUM_ARGS:
      return answer.value(static_cast<cl_uint>(kernel->info.args.size()));
    case CL_KERNEL_REFERENCE_COUNT:
      return answer.value<cl_uint>(kernel->references);
    case CL_KERNEL_CONTEXT:
      return answer.value(kernel->program->context.get());
    case CL_KERNEL_PROGRAM:
      return answer.value(kernel->program.get());
    case CL_KERNEL_ATTRIBUTES:
      return answer.text(attributes_of(*kernel));
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t room, void* value,
                          size_t* size_ret) {
  check(kernel);
  require(index < kernel->info.args.size(), CL_INVALID_ARG_INDEX);
  const wire::ArgInfo& arg = kernel->info.args[index];
  const Answer answer(room, value, size_ret);
  if (!kernel->info.told || !keeps_arg_info(*kernel)) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  switch (name) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
      return answer.value<cl_kernel_arg_address_qualifier>(arg.address);
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
      return answer.value<cl_kernel_arg_access_qualifier>(arg.access);
    case CL_KERNEL_ARG_TYPE_NAME:
      return answer.text(arg.type);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
      return answer.value<cl_kernel_arg_type_qualifier>(arg.type_qualifier);
    case CL_KERNEL_ARG_NAME:
      return answer.text(arg.name);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name, size_t room,
                                void* value, size_t* size_ret) {
  check(kernel);
  _cl_device_id& on = chosen_device(*kernel, device);
  return Answer(room, value, size_ret).bytes(kernel->work_group_info(on, name));
}

cl_int clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info name, size_t input_size,
                               const void* input, size_t room, void* value, size_t* size_ret) {
  check(kernel);
  _cl_device_id& on = chosen_device(*kernel, device);
  SubContext& sub_context = kernel->program->context->sub_context_of(&on);
  size_t size = 0;
  int wanted = 0;
  const Bytes outputs = sub_context.session.ask<api::FnId::clGetKernelSubGroupInfo>(
      {}, as<cl_kernel>(kernel->at(sub_context)), as<cl_device_id>(on.name), name, input_size, input, LargestInfo,
      static_cast<void*>(&wanted), &size);
  const InfoAnswer answer = info_of(api::FnId::clGetKernelSubGroupInfo, outputs);
  require(answer.code == CL_SUCCESS, answer.code);
  return Answer(room, value, size_ret).bytes(answer.value);
}

// Loaders export this one, too, and lead it to its own place in the table.
cl_int clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info name,
                                  size_t input_size, const void* input, size_t room, void* value, size_t* size_ret) {
  return fn::clGetKernelSubGroupInfo(kernel, device, name, input_size, input, room, value, size_ret);
}

}  // namespace gt::virt::fn
