// Queries of programs: handles and states are ours, binaries are asked of the executors.
#include <algorithm>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/objects/habits.h"
#include "optimizer-rt/client/platform/native_device.h"
#include "optimizer-rt/client/programs/program.h"

namespace gt::virt::fn {
namespace {

Bytes ask(SubContext& sub_context, ObjectId program, cl_program_info info, size_t most) {
  size_t size = 0;
  int wanted = 0;  // only whether there is a pointer goes along
  const Bytes outputs = sub_context.session.ask<api::FnId::clGetProgramInfo>({}, as<cl_program>(program), info, most,
                                                                             static_cast<void*>(&wanted), &size);
  return info_of(api::FnId::clGetProgramInfo, outputs).value;
}

// Of the devices at a sub-context, in the order in which it knows them.
std::vector<size_t> sizes_at(SubContext& sub_context, ObjectId program) {
  const Bytes value = ask(sub_context, program, CL_PROGRAM_BINARY_SIZES, LargestInfo);
  std::vector<size_t> sizes(value.size() / sizeof(size_t));
  if (!sizes.empty()) std::memcpy(sizes.data(), value.data(), sizes.size() * sizeof(size_t));
  return sizes;
}

// Visits each device's binary: its index among the program's devices, where it begins in its sub-context's, its size.
template <class Visit>
void each_binary(_cl_program& program, Visit visit) {
  for (const auto& sub_context : program.context->sub_contexts) {
    const ObjectId name = program.at(*sub_context);
    if (name == 0) continue;
    const std::vector<size_t> sizes = sizes_at(*sub_context, name);
    size_t k = 0, at = 0;
    for (size_t i = 0; i < program.devices.size(); ++i) {
      if (&program.context->sub_context_of(program.devices[i]) != sub_context.get() || k >= sizes.size()) continue;
      visit(*sub_context, i, at, sizes[k]);
      at += sizes[k++];
    }
  }
}

cl_int binary_sizes(_cl_program& program, const Answer& answer) {
  std::vector<size_t> all(program.devices.size());
  if (answer.sub_context()) {
    each_binary(program, [&](SubContext&, size_t i, size_t, size_t size) { all[i] = size; });
  }
  return answer.list(all);
}

// The program gives pointers, NULL where it does not want one.
cl_int binaries(_cl_program& program, const Answer& answer, size_t* size_ret) {
  const size_t bytes = program.devices.size() * sizeof(unsigned char*);
  if (size_ret) *size_ret = bytes;
  if (!answer.sub_context()) return CL_SUCCESS;
  require(answer.room() >= bytes, CL_INVALID_VALUE);
  auto* const sub_contexts = static_cast<unsigned char**>(answer.sub_context());
  const SubContext* here = nullptr;
  Bytes all;
  each_binary(program, [&](SubContext& sub_context, size_t i, size_t at, size_t size) {
    constexpr size_t Most = size_t{1} << 30;
    if (here != &sub_context) all = ask(sub_context, program.at(sub_context), CL_PROGRAM_BINARIES, Most);
    here = &sub_context;
    if (sub_contexts[i] && at + size <= all.size()) std::memcpy(sub_contexts[i], all.data() + at, size);
  });
  return CL_SUCCESS;
}

cl_int devices(const _cl_program& program, const Answer& answer) {
  std::vector<cl_device_id> handles;
  for (_cl_device_id* d : program.devices) handles.push_back(d->handle());
  return answer.list(handles);
}

cl_int kernel_names(_cl_program& program, const Answer& answer) {
  require(program.built(), CL_INVALID_PROGRAM_EXECUTABLE);
  std::string names;
  const MutexLock lock(program.mutex);
  for (const wire::KernelInfo& k : program.kernels) names += (names.empty() ? "" : ";") + k.name;
  return answer.text(names);
}

BuildState state_of(_cl_program& program, _cl_device_id& device) {
  const MutexLock lock(program.mutex);
  const auto it = program.builds.find(&device);
  require(it != program.builds.end(), CL_INVALID_DEVICE);
  return it->second;
}

// The options as the program gave them, if need be as its driver tells such. What the executor gave is not what the
// program gave: but where the driver tells none after a build that failed, there are none.
std::string options_as_told(_cl_program& program, _cl_device_id& device, const BuildState& state) {
  SubContext& sub_context = program.context->sub_context_of(&device);
  const ObjectId name = program.at(sub_context);
  if (name == 0 || !sub_context.session.alive()) return state.options;
  if (state.status == CL_BUILD_ERROR) {
    size_t size = 0;
    int wanted = 0;  // only whether there is a pointer goes along
    const Bytes outputs = sub_context.session.ask<api::FnId::clGetProgramBuildInfo>(
        {}, as<cl_program>(name), as<cl_device_id>(device.name), cl_program_build_info{CL_PROGRAM_BUILD_OPTIONS},
        LargestInfo, static_cast<void*>(&wanted), &size);
    const InfoAnswer answer = info_of(api::FnId::clGetProgramBuildInfo, outputs);
    if (answer.code == CL_SUCCESS && (answer.value.empty() || answer.value[0] == 0)) return {};
  }
  const std::string tidy = tidied(state.options);
  return tidy != state.options && Habits(sub_context).tidies_options() ? tidy : state.options;
}

}  // namespace

cl_int clGetProgramInfo(cl_program program, cl_program_info name, size_t room, void* value, size_t* size_ret) {
  check(program);
  if (name >= CL_PROGRAM_BINARY_SIZES && name <= CL_PROGRAM_KERNEL_NAMES) program->settle();
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_PROGRAM_REFERENCE_COUNT:
      return answer.value<cl_uint>(program->references);
    case CL_PROGRAM_CONTEXT:
      return answer.value(program->context.get());
    case CL_PROGRAM_NUM_DEVICES:
      return answer.value(static_cast<cl_uint>(program->devices.size()));
    case CL_PROGRAM_DEVICES:
      return devices(*program, answer);
    case CL_PROGRAM_SOURCE:
      return answer.text(program->source);
    case CL_PROGRAM_IL:
      return answer.bytes(program->il);
    case CL_PROGRAM_BINARY_SIZES:
      return binary_sizes(*program, answer);
    case CL_PROGRAM_BINARIES:
      return binaries(*program, answer, size_ret);
    case CL_PROGRAM_NUM_KERNELS: {
      require(program->built(), CL_INVALID_PROGRAM_EXECUTABLE);
      const MutexLock lock(program->mutex);
      return answer.value(program->kernels.size());
    }
    case CL_PROGRAM_KERNEL_NAMES:
      return kernel_names(*program, answer);
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
      return answer.value<cl_bool>(CL_FALSE);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name, size_t room,
                             void* value, size_t* size_ret) {
  check(program);
  _cl_device_id& of = device_of(device);
  const BuildState state = state_of(*program, of);
  const Answer answer(room, value, size_ret);
  switch (name) {
    case CL_PROGRAM_BUILD_STATUS:
      return answer.value(state.status);
    case CL_PROGRAM_BUILD_OPTIONS:
      return answer.text(options_as_told(*program, of, state));
    case CL_PROGRAM_BUILD_LOG:
      return answer.text(state.log);
    case CL_PROGRAM_BINARY_TYPE:
      return answer.value(state.binary_type);
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
      return answer.value<size_t>(0);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace gt::virt::fn
