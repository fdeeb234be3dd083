#include "transport/executor/calls/launches.h"

#include <string_view>

#include "transport/executor/base/driver_lock.h"

namespace gt::exec {
namespace {

using Kind = wire::ArgInfo::Kind;
using Form = wire::KernelArg::Form;

std::string text_of(const Cl& cl, cl_kernel kernel, cl_uint index, cl_kernel_arg_info name) {
  constexpr size_t Longest = 4096;
  size_t size = 0;
  if (cl.clGetKernelArgInfo(kernel, index, name, 0, nullptr, &size) != CL_SUCCESS || size == 0 || size > Longest)
    return {};
  std::string text(size, '\0');
  if (cl.clGetKernelArgInfo(kernel, index, name, size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return text;
}

Kind kind_of(const wire::ArgInfo& info) {
  const std::string_view type = info.type;
  if (info.type_qualifier & CL_KERNEL_ARG_TYPE_PIPE) return Kind::Pipe;
  if (type == "sampler_t") return Kind::Sampler;
  if (type == "queue_t" || type == "clk_event_t") return Kind::Unknown;
  if (type.starts_with("image") && type.ends_with("_t") && type.find('*') == type.npos) return Kind::Image;
  switch (info.address) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL: return Kind::Global;
    case CL_KERNEL_ARG_ADDRESS_CONSTANT: return Kind::Constant;
    case CL_KERNEL_ARG_ADDRESS_LOCAL: return Kind::Local;
    default: return type.ends_with('*') ? Kind::Unknown : Kind::Value;
  }
}

}  // namespace

wire::ArgInfo arg_info(const Cl& cl, cl_kernel kernel, cl_uint index, bool& told) {
  wire::ArgInfo info;
  cl_kernel_arg_address_qualifier address = 0;
  cl_kernel_arg_access_qualifier access = 0;
  cl_kernel_arg_type_qualifier qualifier = 0;
  const auto ask = [&](cl_kernel_arg_info name, auto& value) {
    return cl.clGetKernelArgInfo(kernel, index, name, sizeof value, &value, nullptr) == CL_SUCCESS;
  };
  told = ask(CL_KERNEL_ARG_ADDRESS_QUALIFIER, address) && ask(CL_KERNEL_ARG_TYPE_QUALIFIER, qualifier);
  if (!told) return info;
  ask(CL_KERNEL_ARG_ACCESS_QUALIFIER, access);
  info.address = address;
  info.access = access;
  info.type_qualifier = qualifier;
  info.type = text_of(cl, kernel, index, CL_KERNEL_ARG_TYPE_NAME);
  info.name = text_of(cl, kernel, index, CL_KERNEL_ARG_NAME);
  info.kind = kind_of(info);
  return info;
}

std::shared_ptr<KernelFacts> kernel_facts(const Cl& cl, cl_kernel kernel) {
  auto facts = std::make_shared<KernelFacts>();
  facts->args.resize(Cl::ask<cl_uint>(cl.clGetKernelInfo, kernel, CL_KERNEL_NUM_ARGS));
  facts->given.resize(facts->args.size());
  for (cl_uint i = 0; i < facts->args.size(); ++i) {
    bool told = false;
    facts->args[i] = arg_info(cl, kernel, i, told).kind;
  }
  return facts;
}

bool may_be(const KernelFacts& facts, const wire::KernelArg& arg) {
  if (arg.index >= facts.args.size()) return true;  // the driver says what is wrong
  switch (facts.args[arg.index]) {
    case Kind::Value: return arg.form == Form::Value;
    case Kind::Local: return arg.form == Form::Local;
    case Kind::Unknown: return true;
    case Kind::Global:
    case Kind::Constant: return arg.form == Form::Object || arg.form == Form::Svm;
    default: return arg.form == Form::Object;
  }
}

cl_int Launches::set_object(cl_kernel kernel, cl_uint index, ObjectId id) {
  const Cl& cl = commands_.cl();
  void* handle = nullptr;
  if (id == 0) return cl.clSetKernelArg(kernel, index, sizeof handle, &handle);
  for (const ObjectKind kind : {ObjectKind::Buffer, ObjectKind::Sampler, ObjectKind::Queue}) {
    const Object* const object = commands_.objects().find(id, kind);
    if (!object) continue;
    handle = object->handle;
    return cl.clSetKernelArg(kernel, index, sizeof handle, &handle);
  }
  return CL_INVALID_MEM_OBJECT;
}

cl_int Launches::set_svm(cl_kernel kernel, cl_uint index, uint64_t address) {
  const Object* const block = commands_.objects().find_svm(address);
  if (address != 0 && !block) return CL_INVALID_ARG_VALUE;
  const Cl& cl = commands_.cl();
  if (block && block->svm->is_usm())
    return block->svm->usm().set_argument(kernel, index, reinterpret_cast<const void*>(address));
  if (!cl.has_svm()) return CL_INVALID_OPERATION;
  return cl.clSetKernelArgSVMPointer(kernel, index, reinterpret_cast<const void*>(address));
}

cl_int Launches::set_arg(const Object& kernel, const wire::KernelArg& arg) {
  if (!may_be(*kernel.kernel, arg)) return CL_INVALID_ARG_VALUE;
  const Cl& cl = commands_.cl();
  switch (arg.form) {
    case Form::Value:
      if (arg.value.empty()) return CL_INVALID_ARG_SIZE;
      return cl.clSetKernelArg(kernel.as<cl_kernel>(), arg.index, arg.value.size(), arg.value.data());
    case Form::Object: return set_object(kernel.as<cl_kernel>(), arg.index, arg.object);
    case Form::Local: return cl.clSetKernelArg(kernel.as<cl_kernel>(), arg.index, arg.size, nullptr);
    case Form::Svm: return set_svm(kernel.as<cl_kernel>(), arg.index, arg.object);
    default: return CL_INVALID_ARG_VALUE;
  }
}

cl_int Launches::set_args(Object& kernel, const wire::Launch& launch) {
  if (launch.args.empty()) return CL_SUCCESS;
  if (!kernel.kernel) kernel.kernel = kernel_facts(commands_.cl(), kernel.as<cl_kernel>());
  for (const wire::KernelArg& arg : launch.args) {
    if (const cl_int code = set_arg(kernel, arg); code != CL_SUCCESS) return code;
    if (arg.index < kernel.kernel->given.size()) kernel.kernel->given[arg.index] = true;
  }
  return CL_SUCCESS;
}

// What is recorded next has them. It is answered, and this is not: so it tells what went wrong here.
void Launches::set_for_recording(const wire::Launch& m) {
  if (Object* const kernel = commands_.objects().find(m.kernel, ObjectKind::Kernel))
    kernel->refused = set_args(*kernel, m);
}

void Launches::run(const wire::Launch& m) {
  constexpr auto Fn = api::FnId::clEnqueueNDRangeKernel;
  if (m.dimensions == 0 && m.event) return commands_.fail(Fn, CL_INVALID_WORK_DIMENSION, m.queue, m.event);
  if (m.dimensions == 0) return set_for_recording(m);
  ++commands_.session().count.launches;
  const std::shared_ptr<Queue> queue = commands_.queue_for(Fn, m.queue, m.event);
  if (!queue) return;
  Object* const kernel = commands_.objects().find(m.kernel, ObjectKind::Kernel);
  if (!kernel) return commands_.fail(Fn, CL_INVALID_KERNEL, m.queue, m.event);
  if (m.dimensions > 3) return commands_.fail(Fn, CL_INVALID_WORK_DIMENSION, m.queue, m.event);
  if (const cl_int code = set_args(*kernel, m); code != CL_SUCCESS)
    return commands_.fail(api::FnId::clSetKernelArg, code, m.queue, m.event);
  if (!m.args.empty()) kernel->refused = CL_SUCCESS;
  std::span<const cl_event> waits;
  if (const cl_int code = commands_.objects().wait_list(m.waits, waits); code != CL_SUCCESS)
    return commands_.fail(Fn, code, m.queue, m.event);
  static_assert(sizeof(size_t) == sizeof(uint64_t));
  const auto sizes = [](const std::array<uint64_t, 3>& a) { return reinterpret_cast<const size_t*>(a.data()); };
  const int64_t before = Commands::when(*queue);
  cl_event event = nullptr;
  const size_t* const offset = m.given & 1 ? sizes(m.offset) : nullptr;
  const size_t* const local = m.given & 2 ? sizes(m.local) : nullptr;
  cl_int code = CL_SUCCESS;
  {
    const auto lock = lock_driver(commands_.session(), *queue);
    const auto enqueue = [&](usm::EmulatedUsm::Waits w, cl_event* e) {
      return commands_.cl().clEnqueueNDRangeKernel(queue->handle, kernel->as<cl_kernel>(), m.dimensions, offset,
                                                   sizes(m.global), local, w.count, w.list, e);
    };
    const usm::EmulatedUsm::Waits all{static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data()};
    cl_event* const given = m.event ? &event : nullptr;
    usm::EmulatedUsm* const usm = commands_.session().usm;
    const bool concerns = usm && usm->concerns(kernel->as<cl_kernel>());
    code = concerns ? usm->launch(queue->handle, kernel->as<cl_kernel>(), all, given, enqueue) : enqueue(all, given);
  }
  if (code != CL_SUCCESS) return commands_.fail(Fn, code, m.queue, m.event);
  if (m.event) commands_.name_event(m.event, event, queue, before);
}

}  // namespace gt::exec
