#include "tracer/gtrace/replay/device_data.h"

#include <fmt/format.h>

namespace gt::tracer {

using api::FnId;
using model::ArgForm;
using model::ObjectKind;

// The object of an argument, and the number behind it.
DeviceData::Held DeviceData::held(const ReplayedCall& call, uint16_t arg) const {
  const model::Arg& a = call.shape.args[arg];
  const size_t at = call.plan.value_at[arg];
  Held held;
  held.content = call.values[call.plan.value_at[arg + 1u]];
  held.memory = a.form == ArgForm::Memory;
  if (!held.memory) {
    held.value = encoder_.handle(a.cls, call.values[at]);
    if (held.value == ReplayObjects::Lost) held.value = 0;
    return held;
  }
  held.value = encoder_.address(a.cls, call.values[at], call.values[at + 1]);
  const uint16_t maker = world_.trace.classes[a.cls].fn;
  held.usm = maker != static_cast<uint16_t>(FnId::clSVMAlloc) && maker != static_cast<uint16_t>(FnId::clSVMAllocARM);
  return held;
}

Status DeviceData::write(const ReplayedCall& call, const Held& held, ByteView bytes) const {
  const auto queue = reinterpret_cast<cl_command_queue>(call.queue);
  if (!held.memory) return memory_.write(queue, reinterpret_cast<cl_mem>(held.value), bytes);
  if (bytes.size() > world_.mapped.room(held.value))
    return {Kind::Corrupt, "more bytes were recorded of shared memory than it has"};
  return memory_.copy(queue, reinterpret_cast<void*>(held.value), bytes.data(), bytes.size(),
                      held.usm ? world_.devices.by_slot().front().platform : nullptr);
}

Status DeviceData::read(const ReplayedCall& call, const Held& held, Bytes& out) const {
  const auto queue = reinterpret_cast<cl_command_queue>(call.queue);
  if (!held.memory) return memory_.read(queue, reinterpret_cast<cl_mem>(held.value), out);
  out.resize(std::min(world_.contents->size(held.content), world_.mapped.room(held.value)));
  return memory_.copy(queue, out.data(), reinterpret_cast<const void*>(held.value), out.size(),
                      held.usm ? world_.devices.by_slot().front().platform : nullptr);
}

void DeviceData::restore(const ReplayedCall& call) {
  for (const uint16_t arg : call.plan.before) {
    const Held held = this->held(call, arg);
    if (held.value == 0) continue;
    const uint64_t whole = held.memory ? held.value : whole_of(held.value);
    Status s(Kind::Invalid, "they could not be read when it was recorded");
    if (held.content >= 0 && world_.contents->has(held.content)) {
      s = world_.contents->read(held.content, bytes_);
    } else if (held.content >= 0) {
      s = Status(Kind::Invalid, "they are not in the file of contents (gtrace run --max-size?)");
    }
    if (s.ok()) {
      wait_as(call);
      s = write(call, held, bytes_);
    }
    if (s.ok()) {
      if (whole == held.value) world_.unknown.forget(whole);
      continue;
    }
    world_.unknown.add(whole);
    world_.outcome.left_out(fmt::format("contents before {}: {}", api::function_name(call.shape.fn), s.text()));
  }
}

// What the call waits for wrote before it, also what was read then: the recording waited likewise.
void DeviceData::wait_as(const ReplayedCall& call) const {
  const auto wait = world_.cl.get<decltype(clWaitForEvents)>(FnId::clWaitForEvents);
  for (size_t i = call.plan.input_at.front(); i < call.plan.input_at.back(); ++i) {
    const model::Arg& a = call.shape.args[i];
    if (a.form != ArgForm::Object || world_.trace.classes[a.cls].kind != ObjectKind::Event) continue;
    const uint64_t handle = encoder_.handle(a.cls, call.values[call.plan.value_at[i]]);
    const auto event = reinterpret_cast<cl_event>(handle);
    if (handle != 0 && handle != ReplayObjects::Lost) wait(1, &event);
  }
}

// Of a sub-buffer: what it is a part of.
uint64_t DeviceData::whole_of(uint64_t object) const {
  cl_mem parent = nullptr;
  const cl_int code = world_.cl.get<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo)(
      reinterpret_cast<cl_mem>(object), CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, nullptr);
  return code == CL_SUCCESS && parent ? reinterpret_cast<uint64_t>(parent) : object;
}

bool DeviceData::works_on_unknown(const ReplayedCall& call) {
  std::vector<uint64_t> objects;
  const auto add = [&](ObjectKind kind, uint64_t handle) {
    if (handle == 0 || handle == ReplayObjects::Lost) return;
    if (kind == ObjectKind::Buffer || kind == ObjectKind::Image) objects.push_back(whole_of(handle));
    if (kind == ObjectKind::Svm) objects.push_back(handle);
  };
  for (size_t i = call.plan.input_at.front(); i < call.plan.input_at.back(); ++i) {
    const model::Arg& a = call.shape.args[i];
    if (a.cls == model::NoIndex) continue;
    const ObjectKind kind = world_.trace.classes[a.cls].kind;
    const int64_t slot = call.values[call.plan.value_at[i]];
    if (a.form == ArgForm::Object) add(kind, encoder_.handle(a.cls, slot));
    if (a.form == ArgForm::Memory && kind == ObjectKind::Svm) add(kind, encoder_.address(a.cls, slot, 0));
  }
  if (call.kernel != 0) {
    for (const auto& [index, value] : world_.kernels.bindings(call.kernel))
      add(value.kind == BoundValue::Kind::Pointer ? ObjectKind::Svm : value.object, value.handle);
  }
  return world_.unknown.meet(objects);
}

void DeviceData::compare(const ReplayedCall& call, uint64_t event, bool unknown) {
  if (event == 0) return;
  const auto over = reinterpret_cast<cl_event>(event);
  const bool wanted = world_.measures.load(std::memory_order_relaxed);
  // It had ended when the recording came here, so nothing that it waits for is still to come.
  if (wanted) world_.cl.get<decltype(clWaitForEvents)>(FnId::clWaitForEvents)(1, &over);
  world_.cl.get<decltype(clReleaseEvent)>(FnId::clReleaseEvent)(over);
  if (!wanted || unknown) return;
  for (const uint16_t arg : call.plan.after) {
    const Held held = this->held(call, arg);
    if (held.value == 0 || held.content < 0 || !world_.contents->has(held.content)) continue;
    if (const Status s = read(call, held, bytes_); !s.ok()) {
      world_.outcome.left_out(fmt::format("results: {}", s.text()));
      continue;
    }
    const std::string object = name_of(call, arg, held);
    data_.compare({bytes_.data(), {0, bytes_.size()}}, held.content,
                  {call.number, call.shape.thread, call.id, world_.kernels.element_of(held.value), object});
  }
}

// "argument 0 of stir, b0"
std::string DeviceData::name_of(const ReplayedCall& call, uint16_t arg, const Held& held) {
  if (!names_) names_ = std::make_unique<model::ObjectNames>(world_.trace);
  const model::Arg& a = call.shape.args[arg];
  std::string out;
  for (const auto& [index, value] : world_.kernels.bindings(call.kernel)) {
    if (value.handle != held.value) continue;
    out = fmt::format("argument {} of {}, ", index, world_.trace.label(kernel_class(call.shape, call.plan)));
    break;
  }
  names_->append(out, a.cls, call.values[call.plan.value_at[arg]]);
  return out;
}

}  // namespace gt::tracer
