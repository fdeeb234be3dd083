// What a replayed call made, under the names that the recording gave it; and what kernels were given.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "tracer/gtrace/replay/replayer.h"

namespace gt::tracer {

using api::FnId;
using model::Arg;
using model::ArgForm;
using model::Effect;
using model::ObjectKind;

void Replayer::name_outputs(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  if (plan.address >= 0) note_address(static_cast<uint64_t>(values[static_cast<size_t>(plan.address)]));
  size_t at = 0;
  for (const uint16_t i : plan.outputs) {
    const Arg& arg = shape.args[i];
    // The k-th element of a parameter then is the k-th element now.
    size_t from = at;
    while (from < made_.size() && made_[from].param != arg.param) ++from;
    if (from == made_.size()) continue;
    at = from + 1;
    if (arg.form == ArgForm::Object || arg.form == ArgForm::Memory)
      name_output(shape, arg, values.subspan(plan.value_at[i]), made_[from]);
  }
  if (plan.callback >= 0) name_callback(shape, plan, values);
}

// Nobody is called back, but what the callback did may be done from now on.
void Replayer::name_callback(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  constexpr uint64_t Registered = 1;
  const Arg& callback = shape.args[static_cast<size_t>(plan.callback)];
  const int64_t slot = values[plan.value_at[static_cast<size_t>(plan.callback)]];
  RegisteredCallback registered;
  for (const uint16_t i : plan.outputs) {
    const Arg& arg = shape.args[i];
    if (arg.form == ArgForm::Object && world_.trace.classes[arg.cls].kind == ObjectKind::Program)
      registered.program = world_.objects.find(arg.cls, values[plan.value_at[i]]);
  }
  if (shape.fn == static_cast<uint16_t>(FnId::clSetEventCallback)) {
    registered.event = first_input();
    registered.status = static_cast<int32_t>(number_of(shape, plan, values, 1));
    world_.cl.get<decltype(clRetainEvent)>(FnId::clRetainEvent)(reinterpret_cast<cl_event>(registered.event));
  } else {
    registered.event = hold_event(shape, plan);  // of a command that calls back
  }
  world_.callbacks.add(callback.cls, slot, registered);
  world_.objects.set(callback.cls, slot, Registered);
}

// A call of a callback: the program that it is given is the one of the call that registered it.
void Replayer::call_back(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  RegisteredCallback registered;
  for (size_t i = 0; i < shape.args.size(); ++i) {
    const Arg& a = shape.args[i];
    if (a.param == model::ParamCallback && a.form == ArgForm::Object)
      registered = world_.callbacks.take(a.cls, values[plan.value_at[i]]);
  }
  for (size_t i = 0; registered.program != 0 && i < shape.args.size(); ++i) {
    const Arg& a = shape.args[i];
    if (a.form == ArgForm::Object && world_.trace.classes[a.cls].kind == ObjectKind::Program &&
        was_met(world_.trace, a.cls))
      world_.objects.set(a.cls, values[plan.value_at[i]], registered.program);
  }
  if (registered.event != 0) await(registered);
}

// By looking: in a part of a recording, what it waits for may never come.
void Replayer::await(const RegisteredCallback& registered) {
  using std::chrono::microseconds;
  constexpr std::chrono::seconds Longest{10};
  const auto event = reinterpret_cast<cl_event>(registered.event);
  const auto ask = world_.cl.get<decltype(clGetEventInfo)>(FnId::clGetEventInfo);
  const auto come = [&] {
    cl_int status = CL_COMPLETE;
    ask(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return status <= registered.status;
  };
  const auto until = std::chrono::steady_clock::now() + Longest;
  for (microseconds pause{10}; !come() && std::chrono::steady_clock::now() < until;
       pause = std::min(2 * pause, microseconds(1000)))
    std::this_thread::sleep_for(pause);
  world_.cl.get<decltype(clReleaseEvent)>(FnId::clReleaseEvent)(event);
}

// The call gave memory, which the recording had at an address that contents may hold.
void Replayer::note_address(uint64_t recorded) {
  for (const api::DecodedArg& m : made_)
    if (m.tag == api::Tag::HostPointer) world_.addresses.add(recorded, m.value, m.length);
}

// The program asked where on each device a buffer lies (cl_ext_buffer_device_address).
void Replayer::note_device_address(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  constexpr int Name = 1, Answer = 3;
  constexpr int64_t Address = 0x5001;  // CL_MEM_DEVICE_ADDRESS_EXT
  if (shape.fn != static_cast<uint16_t>(FnId::clGetMemObjectInfo) || number_of(shape, plan, values, Name) != Address)
    return;
  size_t bytes = 0;
  world_.cl.get<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo)(reinterpret_cast<cl_mem>(first_input()),
                                                                        CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  const auto words = [](ByteView from) {
    std::vector<uint64_t> out(from.size() / sizeof(uint64_t));
    if (!out.empty()) std::memcpy(out.data(), from.data(), out.size() * sizeof(uint64_t));
    return out;
  };
  for (const uint16_t i : plan.outputs) {
    const Arg& arg = shape.args[i];
    const auto blob = arg.form == ArgForm::Blob ? static_cast<size_t>(values[plan.value_at[i]]) : SIZE_MAX;
    if (arg.param != Answer || blob >= world_.trace.blobs.size()) continue;
    const std::vector<uint64_t> recorded = words(world_.trace.blobs[blob].bytes);
    for (const api::DecodedArg& m : made_) {
      if (m.param != Answer || m.tag != api::Tag::Bytes) continue;
      const std::vector<uint64_t> here = words(m.data);
      for (size_t k = 0; k < std::min(here.size(), recorded.size()); ++k)
        world_.addresses.add(recorded[k], here[k], bytes);
    }
  }
}

void Replayer::note_command_buffer(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  if (plan.fn->attributes.creates == ObjectKind::CommandBuffer && !made_.empty())
    world_.command_buffers.made(made_.front().value, first_of(ObjectKind::Queue, shape, plan, values));
  for (const api::DecodedArg& m : made_)
    if (m.tag == api::Tag::Handle && m.kind == ObjectKind::MutableCommand && m.value != 0)
      world_.command_buffers.made_command(m.value, kernel_class(shape, plan));
  for (const uint16_t i : plan.outputs) {
    const Arg& arg = shape.args[i];
    if (arg.form != ArgForm::Int || arg.param >= plan.fn->param_count || !holds_sync_points(plan.fn->params[arg.param]))
      continue;
    for (const api::DecodedArg& m : made_)
      if (m.param == arg.param && m.tag == api::Tag::Int)
        world_.command_buffers.set_sync_point(first_input(), static_cast<uint64_t>(values[plan.value_at[i]]), m.value);
  }
}

void Replayer::name_output(const model::Shape& shape, const Arg& arg, std::span<const int64_t> values,
                           const api::DecodedArg& made) {
  // There a driver gave a handle with its error, here none does: the name is not that of what had it before.
  if (made.value == 0 && arg.form == ArgForm::Object && arg.effect == Effect::Def)
    return world_.objects.set(arg.cls, values[0], ReplayObjects::Lost);
  if (made.value == 0 || (made.tag != api::Tag::Handle && made.tag != api::Tag::HostPointer)) return;
  const ObjectKind kind = world_.trace.classes[arg.cls].kind;
  if (kind == ObjectKind::Platform) return;
  if (kind == ObjectKind::Device && shape.fn != static_cast<uint16_t>(FnId::clCreateSubDevices)) return;
  if (arg.form == ArgForm::Memory) return world_.objects.set_mapped(arg.cls, values[0], values[1], made.value);
  if (arg.effect != Effect::Def && world_.objects.find(arg.cls, values[0]) != 0)
    return;  // known by a call that made it
  world_.objects.set(arg.cls, values[0], made.value);
  // Without data of the program's, and no part of another one.
  const bool empty = content_ < 0 && !moved_.at && api::attributes(shape.fn).creates == kind && world_.contents;
  const bool may_be_mapped = is_memory_object(kind) || shape.fn == static_cast<uint16_t>(FnId::clSVMAlloc);
  if (empty && may_be_mapped && !names_memory_object(shape, plan_of(shape_))) world_.untouched.made(made.value);
  if (shape.fn == static_cast<uint16_t>(FnId::clCreateUserEvent)) world_.gates.made(made.value);
  if (kind == ObjectKind::Svm && arg.effect == Effect::Def) world_.mapped.set_block(made.value, made.length);
  if (kind == ObjectKind::Queue && arg.effect == Effect::Def) world_.queues.hold(made.value);
}

// What it would have made is not there for later calls, which are left out, too.
void Replayer::lose_outputs(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  for (const uint16_t i : plan.outputs) {
    const Arg& a = shape.args[i];
    if (a.form == ArgForm::Object && a.effect == Effect::Def)
      world_.objects.set(a.cls, values[plan.value_at[i]], ReplayObjects::Lost);
  }
  if (plan.callback >= 0) {
    const Arg& arg = shape.args[static_cast<size_t>(plan.callback)];
    world_.objects.set(arg.cls, values[plan.value_at[static_cast<size_t>(plan.callback)]], ReplayObjects::Lost);
  }
}

void Replayer::note_kernels(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  const api::Attributes& a = plan.fn->attributes;
  const bool makes = a.creates == ObjectKind::Kernel;
  if (!makes && a.kernel_value < 0 && !a.launch) return;
  const uint64_t kernel = first_of(ObjectKind::Kernel, shape, plan, values);
  if (makes) {
    const uint64_t made = made_.empty() ? 0 : made_.front().value;
    world_.kernels.forget(made);
    if (kernel != 0) world_.kernels.copy(kernel, made);
  } else if (a.kernel_value >= 0) {
    note_binding(shape, plan, values, kernel);
  } else {
    world_.kernels.launched(kernel, kernel_class(shape, plan));
  }
}

void Replayer::note_binding(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                            uint64_t kernel) {
  const api::Attributes& a = plan.fn->attributes;
  const size_t at = plan.input_at[static_cast<size_t>(a.kernel_value)];
  const Arg& arg = shape.args[at];
  const size_t index = plan.input_at[static_cast<size_t>(a.kernel_index)];
  const bool sized = a.kernel_value - 1 != a.kernel_index;
  BoundValue bound;
  if (sized && arg.form == ArgForm::Int)
    return world_.kernels.bind_number(kernel, static_cast<uint32_t>(number_at(shape, plan, values, index)),
                                      static_cast<size_t>(number_at(shape, plan, values, index + 1)),
                                      values[plan.value_at[at]]);
  bound.size = sized ? static_cast<size_t>(number_at(shape, plan, values, index + 1)) : sizeof(void*);
  if (arg.form == ArgForm::Object) {
    bound.kind = BoundValue::Kind::Object;
    bound.object = world_.trace.classes[arg.cls].kind;
    bound.handle = encoder_.handle(arg.cls, values[plan.value_at[at]]);
  } else if (arg.form == ArgForm::Null) {
    bound.kind = sized ? BoundValue::Kind::Local : BoundValue::Kind::Pointer;
  } else if (arg.form == ArgForm::Memory) {
    bound.kind = BoundValue::Kind::Pointer;
    bound.handle = encoder_.address(arg.cls, values[plan.value_at[at]], values[plan.value_at[at] + 1]);
  } else if (arg.form == ArgForm::Blob) {
    const auto id = static_cast<size_t>(values[plan.value_at[at]]);
    if (id < world_.trace.blobs.size()) bound.value = world_.trace.blobs[id].bytes;
  }
  world_.kernels.bind(kernel, static_cast<uint32_t>(number_at(shape, plan, values, index)), std::move(bound));
}

}  // namespace gt::tracer
