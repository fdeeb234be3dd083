#include "optimizer-rt/client/programs/program.h"

#include <algorithm>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/base/serial_thread.h"
#include "optimizer-rt/client/platform/native_device.h"
#include "optimizer-rt/client/programs/includes.h"

using namespace gt;        // NOLINT: this file is about one of their types
using namespace gt::virt;  // NOLINT

_cl_program::_cl_program(_cl_context& c, std::vector<_cl_device_id*> list)
    : Object(Kind), context(&c), devices(std::move(list)), names(c.sub_contexts.size()) {
  for (_cl_device_id* d : devices) builds[d];
}

_cl_program::~_cl_program() {
  for (const auto& sub_context : context->sub_contexts) {
    if (names[sub_context->index] == 0 || !sub_context->session.alive()) continue;
    try {
      sub_context->session.call<api::FnId::clReleaseProgram>({}, as<cl_program>(names[sub_context->index]));
    } catch (const Failure&) {  // nothing is left to release
    }
  }
}

// Those that are lost do not keep the others from being built for.
std::vector<_cl_device_id*> _cl_program::living_devices() const {
  std::vector<_cl_device_id*> living;
  for (_cl_device_id* d : devices) {
    if (d->session.alive()) living.push_back(d);
  }
  return living.empty() ? devices : living;
}

std::vector<_cl_device_id*> _cl_program::chosen(cl_uint n, const cl_device_id* list) {
  require((n == 0) == (list == nullptr), CL_INVALID_VALUE);
  if (n == 0) return living_devices();
  std::vector<_cl_device_id*> some;
  for (cl_uint i = 0; i < n; ++i) {
    some.push_back(&device_of(list[i]));
    require(std::find(devices.begin(), devices.end(), some.back()) != devices.end(), CL_INVALID_DEVICE);
  }
  return some;
}

bool _cl_program::built() {
  const MutexLock lock(mutex);
  return std::any_of(builds.begin(), builds.end(), [](const auto& b) {
    return b.second.status == CL_BUILD_SUCCESS && b.second.binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  });
}

void _cl_program::settle() {
  std::shared_ptr<Latch> latch;
  {
    const MutexLock lock(mutex);
    latch = building;
  }
  if (latch) latch->wait();
}

const wire::KernelInfo* _cl_program::find_kernel(const std::string& name) const {
  const auto it = std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.name == name; });
  return it == kernels.end() ? nullptr : &*it;
}

void _cl_program::read_module() {
  auto module = kernels::SpirvKernels::read(il);
  if (module.ok()) modules.push_back(std::make_shared<const kernels::SpirvKernels>(std::move(*module)));
}

std::vector<bool> _cl_program::may_write(const std::string& kernel) {
  if (modules.empty()) return {};
  const MutexLock lock(mutex);
  const auto [it, fresh] = written.try_emplace(kernel);
  for (size_t i = 0; fresh && i < modules.size(); ++i) {
    bool exact = false;
    const std::optional<kernels::Kernel> found = modules[i]->find(kernel, exact);
    if (!found) continue;
    if (exact)
      for (const kernels::Arg& arg : found->args) it->second.push_back(kernels::writes(arg.access));
    break;
  }
  return it->second;
}

namespace gt::virt::fn {
namespace {

std::vector<_cl_device_id*> all_devices(const _cl_context& context) {
  std::vector<_cl_device_id*> list;
  for (const auto& d : context.devices) list.push_back(d.get());
  return list;
}

std::vector<_cl_device_id*> checked_devices(const _cl_context& context, cl_uint n, const cl_device_id* list) {
  require(n != 0 && list, CL_INVALID_VALUE);
  return devices_in(context, n, list);
}

cl_program given(Ref<_cl_program> program, cl_int* errcode) {
  if (errcode) *errcode = CL_SUCCESS;
  return program.give();
}

// The names of those devices of the list that are at the sub-context.
std::vector<ObjectId> names_at(const SubContext& sub_context, const std::vector<_cl_device_id*>& list) {
  std::vector<ObjectId> names;
  for (_cl_device_id* d : list) {
    if (std::find(sub_context.devices.begin(), sub_context.devices.end(), d) != sub_context.devices.end())
      names.push_back(d->name);
  }
  return names;
}

std::string joined(cl_uint count, const char** strings, const size_t* lengths) {
  require(count != 0 && strings, CL_INVALID_VALUE);
  std::string source;
  for (cl_uint i = 0; i < count; ++i) {
    require(strings[i], CL_INVALID_VALUE);
    lengths && lengths[i] ? source.append(strings[i], lengths[i]) : source.append(strings[i]);
  }
  return source;
}

}  // namespace

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings, const size_t* lengths,
                                     cl_int* errcode) {
  check(context);
  Ref<_cl_program> program = make<_cl_program>(*context, all_devices(*context));
  program->source = joined(count, strings, lengths);
  program->from_source = true;
  const std::string sent = portable_source(program->source);
  const char* text = sent.c_str();
  const size_t length = sent.size();
  for (const auto& sub_context : context->sub_contexts) {
    if (!sub_context->session.alive()) continue;
    const ObjectId name = program->names[sub_context->index] = sub_context->session.new_id();
    cl_int code = 0;
    sub_context->session.call<api::FnId::clCreateProgramWithSource>({name}, as<cl_context>(sub_context->name),
                                                                    cl_uint{1}, &text, &length, &code);
  }
  return given(std::move(program), errcode);
}

cl_program clCreateProgramWithIL(cl_context context, const void* il, size_t length, cl_int* errcode) {
  check(context);
  require(il && length != 0, CL_INVALID_VALUE);
  for (const auto& d : context->devices) require(!d->text(CL_DEVICE_IL_VERSION).empty(), CL_INVALID_OPERATION);
  Ref<_cl_program> program = make<_cl_program>(*context, all_devices(*context));
  const auto* bytes = static_cast<const uint8_t*>(il);
  program->il.assign(bytes, bytes + length);
  program->read_module();
  for (const auto& sub_context : context->sub_contexts) {
    const ObjectId name = program->names[sub_context->index] = sub_context->session.new_id();
    cl_int code = CL_SUCCESS;
    const Bytes outputs = sub_context->session.ask<api::FnId::clCreateProgramWithIL>(
        {name}, as<cl_context>(sub_context->name), il, length, &code);
    const CallAnswer answer = answer_of(api::FnId::clCreateProgramWithIL, outputs);
    code = static_cast<cl_int>(answer.number(3));
    require(code == CL_SUCCESS, code);
  }
  return given(std::move(program), errcode);
}

// Asked, not told: programs try cached binaries and build from source when a driver refuses them.
cl_program clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id* list, const size_t* lengths,
                                     const unsigned char** binaries, cl_int* status, cl_int* errcode) {
  check(context);
  const std::vector<_cl_device_id*> devices = checked_devices(*context, n, list);
  require(lengths && binaries, CL_INVALID_VALUE);
  for (cl_uint i = 0; i < n; ++i) {
    const bool good = lengths[i] != 0 && binaries[i];
    if (status) status[i] = good ? CL_SUCCESS : CL_INVALID_VALUE;
    require(good, CL_INVALID_VALUE);
  }
  Ref<_cl_program> program = make<_cl_program>(*context, devices);
  program->from_binary = true;
  cl_int worst = CL_SUCCESS;
  for (const auto& sub_context : context->sub_contexts) {
    std::vector<ObjectId> ids;
    std::vector<size_t> sizes;
    std::vector<const unsigned char*> data;
    std::vector<cl_uint> indices;
    for (cl_uint i = 0; i < n; ++i) {
      if (&context->sub_context_of(devices[i]) != sub_context.get()) continue;
      ids.push_back(devices[i]->name);
      sizes.push_back(lengths[i]);
      data.push_back(binaries[i]);
      indices.push_back(i);
    }
    if (ids.empty()) continue;
    const ObjectId name = program->names[sub_context->index] = sub_context->session.new_id();
    std::vector<cl_int> told(ids.size());
    cl_int code = CL_SUCCESS;
    const Bytes outputs = sub_context->session.ask<api::FnId::clCreateProgramWithBinary>(
        {name}, as<cl_context>(sub_context->name), static_cast<cl_uint>(ids.size()),
        reinterpret_cast<const cl_device_id*>(ids.data()), sizes.data(), data.data(), told.data(), &code);
    const CallAnswer answer = answer_of(api::FnId::clCreateProgramWithBinary, outputs);
    code = static_cast<cl_int>(answer.number(6, static_cast<uint64_t>(CL_SUCCESS)));
    if (code != CL_SUCCESS) worst = code;
    const std::vector<uint64_t> codes = answer.numbers(5);
    for (size_t k = 0; status && k < indices.size(); ++k) {
      status[indices[k]] = k < codes.size() ? static_cast<cl_int>(codes[k]) : code;
    }
  }
  require(worst == CL_SUCCESS, worst);
  describe(*program);
  return given(std::move(program), errcode);
}

cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint n, const cl_device_id* list,
                                             const char* kernels, cl_int* errcode) {
  check(context);
  const std::vector<_cl_device_id*> devices = checked_devices(*context, n, list);
  require(kernels, CL_INVALID_VALUE);
  Ref<_cl_program> program = make<_cl_program>(*context, devices);
  program->built_in = kernels;
  for (const auto& sub_context : context->sub_contexts) {
    const std::vector<ObjectId> ids = names_at(*sub_context, devices);
    if (ids.empty()) continue;
    const ObjectId name = program->names[sub_context->index] = sub_context->session.new_id();
    cl_int code = CL_SUCCESS;
    const Bytes outputs = sub_context->session.ask<api::FnId::clCreateProgramWithBuiltInKernels>(
        {name}, as<cl_context>(sub_context->name), static_cast<cl_uint>(ids.size()),
        reinterpret_cast<const cl_device_id*>(ids.data()), kernels, &code);
    code = static_cast<cl_int>(answer_of(api::FnId::clCreateProgramWithBuiltInKernels, outputs).number(4));
    require(code == CL_SUCCESS, code);
  }
  return given(std::move(program), errcode);
}

cl_int clRetainProgram(cl_program program) { return retain(program); }
cl_int clReleaseProgram(cl_program program) { return release(program); }

// For destructors of a program's variables, which no device of ours runs (CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT).
cl_int clSetProgramReleaseCallback(cl_program program, ProgramNotify notify, void*) {
  check(program);
  require(notify, CL_INVALID_VALUE);
  return CL_INVALID_OPERATION;
}

cl_int clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t size, const void* value) {
  check(program);
  require(!program->il.empty(), CL_INVALID_PROGRAM);
  require(value && size != 0, CL_INVALID_VALUE);
  for (const auto& sub_context : program->context->sub_contexts) {
    const Bytes outputs = sub_context->session.ask<api::FnId::clSetProgramSpecializationConstant>(
        {}, as<cl_program>(program->at(*sub_context)), id, size, value);
    const cl_int code = answer_of(api::FnId::clSetProgramSpecializationConstant, outputs).code;
    require(code == CL_SUCCESS, code);
  }
  return CL_SUCCESS;
}

}  // namespace gt::virt::fn
