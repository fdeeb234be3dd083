#include "tracer/gtrace/replay/launch_outputs.h"

#include <algorithm>
#include <array>
#include <set>

namespace gt::tracer {

using api::FnId;
using model::ObjectKind;

namespace {

// Memory that somebody gave contents, or that is a part of other memory.
bool has_contents(const OpenClLibrary& cl, cl_mem mem) {
  const auto ask = cl.get<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo);
  cl_mem_flags flags = 0;
  cl_mem parent = nullptr;
  ask(mem, CL_MEM_FLAGS, sizeof flags, &flags, nullptr);
  ask(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, nullptr);
  return parent || (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR));
}

}  // namespace

const LaunchOutputs::ArgumentFacts& LaunchOutputs::facts_of(const Launch& launch, uint32_t index) {
  const auto [place, is_new] = facts_.try_emplace({launch.cls, index});
  ArgumentFacts& facts = place->second;
  const auto ask = cl_.get<decltype(clGetKernelArgInfo)>(FnId::clGetKernelArgInfo);
  if (!is_new || !ask) return facts;
  const auto kernel = reinterpret_cast<cl_kernel>(launch.handle);
  std::array<char, 128> text{};
  cl_kernel_arg_address_qualifier space = 0;
  cl_kernel_arg_access_qualifier access = 0;
  cl_kernel_arg_type_qualifier qualifiers = 0;
  ask(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, nullptr);
  ask(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, nullptr);
  ask(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, nullptr);
  facts.written = space != CL_KERNEL_ARG_ADDRESS_CONSTANT && access != CL_KERNEL_ARG_ACCESS_READ_ONLY &&
                  !(qualifiers & CL_KERNEL_ARG_TYPE_CONST);
  if (ask(kernel, index, CL_KERNEL_ARG_TYPE_NAME, text.size() - 1, text.data(), nullptr) == CL_SUCCESS)
    facts.type = element_type(text.data());
  text.fill('\0');
  if (ask(kernel, index, CL_KERNEL_ARG_NAME, text.size() - 1, text.data(), nullptr) == CL_SUCCESS)
    facts.name = text.data();
  return facts;
}

Status LaunchOutputs::read(const Launch& launch, std::vector<LaunchOutput>& out) {
  const auto queue = reinterpret_cast<cl_command_queue>(launch.queue);
  GT_TRY(memory_.finish(queue));
  std::set<uint64_t> seen;
  const MutexLock lock(mutex_);
  for (const auto& [index, value] : kernels_.bindings(launch.handle)) {
    const bool object = value.kind == BoundValue::Kind::Object;
    if ((!object && value.kind != BoundValue::Kind::Pointer) || value.handle == 0) continue;
    if (object && value.object != ObjectKind::Buffer && value.object != ObjectKind::Image) continue;
    const ArgumentFacts& facts = facts_of(launch, index);
    if (!facts.written || !seen.insert(value.handle).second) continue;
    LaunchOutput& output = out.emplace_back();
    output.argument = index;
    output.name = facts.name;
    output.type = object && value.object == ObjectKind::Image ? ElementType::Byte : facts.type;
    const auto mem = reinterpret_cast<cl_mem>(value.handle);
    GT_TRY(object ? memory_.read(queue, mem, output.bytes) : read_svm(queue, value.handle, output.bytes));
  }
  return {};
}

// From the address on: the kernel was given the middle of it.
Status LaunchOutputs::read_svm(cl_command_queue queue, uint64_t address, Bytes& out) const {
  out.resize(mapped_.room(address));
  if (out.empty() || !cl_.get<decltype(clEnqueueSVMMemcpy)>(FnId::clEnqueueSVMMemcpy)) return {};
  return memory_.copy(queue, out.data(), reinterpret_cast<const void*>(address), out.size());
}

cl_command_queue LaunchOutputs::queue_of(uint64_t context) {
  cl_command_queue& queue = queues_[context];
  if (queue || context == 0) return queue;
  const auto of = reinterpret_cast<cl_context>(context);
  std::array<cl_device_id, 64> devices{};
  size_t bytes = 0;
  cl_int code = cl_.get<decltype(clGetContextInfo)>(FnId::clGetContextInfo)(of, CL_CONTEXT_DEVICES, sizeof devices,
                                                                            devices.data(), &bytes);
  const auto make = cl_.get<decltype(clCreateCommandQueue)>(FnId::clCreateCommandQueue);
  if (code == CL_SUCCESS && bytes > 0 && make) queue = make(of, devices[0], 0, &code);
  return queue;
}

Status LaunchOutputs::clear(const MadeObject& made) {
  const bool mem = made.kind == ObjectKind::Buffer || made.kind == ObjectKind::Image;
  if (made.handle == 0 || (!mem && made.kind != ObjectKind::Svm)) return {};
  if (mem && has_contents(cl_, reinterpret_cast<cl_mem>(made.handle))) return {};
  const MutexLock lock(mutex_);
  const cl_command_queue queue = queue_of(made.context);
  if (!queue) return {};
  const cl_int code = fill(queue, made);
  // A device may refuse: what is there then is its own affair.
  return code == CL_SUCCESS ? memory_.finish(queue) : Status();
}

cl_int LaunchOutputs::fill(cl_command_queue queue, const MadeObject& made) const {
  const uint8_t zero = 0;
  const auto mem = reinterpret_cast<cl_mem>(made.handle);
  if (made.kind == ObjectKind::Svm) {
    const auto to = reinterpret_cast<void*>(made.handle);
    const auto svm = cl_.get<decltype(clEnqueueSVMMemFill)>(FnId::clEnqueueSVMMemFill);
    return svm ? svm(queue, to, &zero, 1, mapped_.room(made.handle), 0, nullptr, nullptr) : CL_INVALID_OPERATION;
  }
  const Result<DeviceMemory::Extent> extent = memory_.extent_of(mem);
  if (!extent) return CL_INVALID_OPERATION;
  if (!extent->image) {
    const auto buffer = cl_.get<decltype(clEnqueueFillBuffer)>(FnId::clEnqueueFillBuffer);
    return buffer ? buffer(queue, mem, &zero, 1, 0, extent->bytes, 0, nullptr, nullptr) : CL_INVALID_OPERATION;
  }
  const std::array<uint32_t, 4> color{};
  const std::array<size_t, 3> origin{};
  const auto image = cl_.get<decltype(clEnqueueFillImage)>(FnId::clEnqueueFillImage);
  return image ? image(queue, mem, color.data(), origin.data(), extent->region, 0, nullptr, nullptr)
               : CL_INVALID_OPERATION;
}

}  // namespace gt::tracer
