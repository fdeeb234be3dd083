#include "tracer/gtrace/replay/kernel_facts.h"

#include <CL/cl.h>

#include <algorithm>

namespace gt::tracer {

using model::ObjectKind;

void KernelFacts::bind(uint64_t kernel, uint32_t index, BoundValue value) {
  const MutexLock lock(mutex_);
  kernels_[kernel][index] = std::move(value);
  if (settled_ == kernel) unsettle();
}

void KernelFacts::bind_number(uint64_t kernel, uint32_t index, size_t size, int64_t value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  const MutexLock lock(mutex_);
  BoundValue& bound = kernels_[kernel][index];
  if (bound.kind != BoundValue::Kind::Value) {
    bound = {};
    if (settled_ == kernel) unsettle();
  }
  bound.size = size;
  bound.value.assign(bytes, bytes + std::min(size, sizeof value));
}

void KernelFacts::copy(uint64_t from, uint64_t to) {
  const MutexLock lock(mutex_);
  if (const auto it = kernels_.find(from); it != kernels_.end()) kernels_[to] = Bindings(it->second);
  if (settled_ == to) unsettle();
}

void KernelFacts::forget(uint64_t kernel) {
  const MutexLock lock(mutex_);
  kernels_.erase(kernel);
  if (settled_ == kernel) unsettle();
}

Bindings KernelFacts::bindings(uint64_t kernel) const {
  const MutexLock lock(mutex_);
  const auto it = kernels_.find(kernel);
  return it == kernels_.end() ? Bindings() : it->second;
}

void KernelFacts::launched(uint64_t kernel, model::ClassId cls) {
  const MutexLock lock(mutex_);
  if (is_settled(kernel, cls)) return;
  const auto it = kernels_.find(kernel);
  if (it == kernels_.end()) return;
  for (const auto& [index, value] : it->second) {
    const bool buffer = value.kind == BoundValue::Kind::Object && value.object == ObjectKind::Buffer;
    if (!buffer && value.kind != BoundValue::Kind::Pointer) continue;
    const auto [type, is_new] = types_.try_emplace({cls, index}, ElementType::Byte);
    if (is_new) type->second = ask(kernel, index);
    buffers_[value.handle] = type->second;
  }
  unsettle();
  settled_ = kernel;
  settled_class_ = cls;
}

void KernelFacts::rebound(model::ClassId cls, uint32_t index, uint64_t buffer) {
  const MutexLock lock(mutex_);
  if (const auto it = types_.find({cls, index}); it != types_.end()) buffers_[buffer] = it->second;
}

ElementType KernelFacts::element_of(uint64_t buffer) const {
  const MutexLock lock(mutex_);
  const auto it = buffers_.find(buffer);
  return it == buffers_.end() ? ElementType::Byte : it->second;
}

ElementType KernelFacts::ask(uint64_t kernel, uint32_t index) const {
  const auto info = cl_.get<decltype(clGetKernelArgInfo)>(api::FnId::clGetKernelArgInfo);
  char name[128] = "";
  size_t size = 0;
  if (!info || info(reinterpret_cast<cl_kernel>(kernel), index, CL_KERNEL_ARG_TYPE_NAME, sizeof name - 1, name,
                    &size) != CL_SUCCESS)
    return ElementType::Byte;
  return element_type(name);
}

}  // namespace gt::tracer
