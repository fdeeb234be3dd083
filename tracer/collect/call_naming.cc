#include "tracer/collect/call_naming.h"

#include <algorithm>
#include <cstring>

#include "traces/api/clock_values.h"

namespace gt::tracer {

using model::ArgForm;
using model::Effect;
using model::ObjectKind;

bool CallNaming::enter(TracedThread& thread, ByteView inputs, bool whole) {
  PendingCall& call = thread.pending;
  if (const CallRecall::Memo* memo = recall_.recall(thread, inputs)) {
    if (call.attributes->kernel_value >= 0)
      bind_kernel_arg(thread, memo->kernel_value ? memo->kernel_value->bound : BoundArg{});
    if (call.attributes->launch) before_call(thread);
    return true;
  }
  decoded_.clear();
  api::DecodeContext context;
  context.external = &thread.external;
  const bool sound = whole && api::decode_inputs(static_cast<api::FnId>(call.shape.fn), inputs, context, decoded_);
  call.calls_back = std::any_of(decoded_.begin(), decoded_.end(),
                                [](const api::DecodedArg& arg) { return arg.tag == api::Tag::Code; });
  for (const api::DecodedArg& arg : decoded_) name_argument(thread, arg, false);
  // What is bound to a launch's kernel may change.
  if (call.attributes->launch && sound) recall_.memorise(thread, inputs, decoded_);
  before_call(thread);
  if (!call.attributes->launch && sound) recall_.memorise(thread, inputs, decoded_);
  if (!thread.external.empty()) thread.external.clear();
  return sound;
}

bool CallNaming::leave(TracedThread& thread, ByteView outputs) {
  const PendingCall& call = thread.pending;
  if (recall_.recall_results(thread, outputs)) return true;
  const size_t args = call.shape.args.size(), values = call.values.size();
  decoded_.clear();
  api::DecodeContext context;
  context.external = &thread.external;
  const bool sound = api::decode_outputs(static_cast<api::FnId>(call.shape.fn), outputs, context, decoded_);
  for (const api::DecodedArg& arg : decoded_) name_argument(thread, arg, true);
  if (sound) recall_.memorise_results(thread, outputs, decoded_, args, values);
  if (!thread.external.empty()) thread.external.clear();
  return sound;
}

bool CallNaming::name_given(TracedThread& callback_thread, ByteView inputs, const CallbackSubject* subject) {
  PendingCall& call = callback_thread.pending;
  decoded_.clear();
  api::DecodeContext context;
  context.external = &callback_thread.external;
  const bool sound = api::decode_inputs(static_cast<api::FnId>(call.shape.fn), inputs, context, decoded_);
  for (const api::DecodedArg& arg : decoded_) {
    if (!subject || arg.tag != api::Tag::Handle || arg.value != subject->handle) {
      name_argument(callback_thread, arg, false);
      continue;
    }
    const Handle* handle = callback_thread.process->objects.handles.find(arg.value);
    const bool alive = handle && handle->object == subject->object;
    call.add_object(arg.param, alive ? Effect::Use : Effect::None, subject->object);
  }
  return sound;
}

void CallNaming::add_device_content(TracedThread& thread, const DeviceContent& content) {
  PendingCall& call = thread.pending;
  const bool written = content.kind == SharedKind::WrittenObject || content.kind == SharedKind::WrittenMemory;
  const uint16_t param = written ? model::ParamAfter : model::ParamBefore;
  if (content.kind == SharedKind::Object || content.kind == SharedKind::WrittenObject) {
    const Handle* const handle = thread.process->objects.handles.find(content.address);
    if (!handle) return;
    call.add_object(param, Effect::None, handle->object);
  } else {
    call.add_place(param, Effect::None, places_.of(thread, content.address));
  }
  call.add_number(param, ArgForm::Int, content.number);
}

void CallNaming::name_argument(TracedThread& thread, const api::DecodedArg& arg, bool output) {
  PendingCall& call = thread.pending;
  const Effect effect = arg.effect;
  switch (arg.tag) {
    case api::Tag::Null:
      if (!output && arg.param == call.attributes->kernel_value)
        bind_kernel_arg(thread, {});
      if (output && arg.param == model::ParamReturn && call.attributes->creates != ObjectKind::Unknown)
        call.error = true;
      return call.add_form(arg.param, ArgForm::Null);
    case api::Tag::Empty:
      return call.add_form(arg.param, ArgForm::Empty);
    case api::Tag::Int:
      if (output && static_cast<int32_t>(arg.value) < 0 && api::is_error_code(call.shape.fn, arg.param))
        call.error = true;
      if (!output && arg.param == call.attributes->kernel_index) call.arg_index = arg.value;
      if (!output && arg.param == call.attributes->kernel_value) bind_kernel_arg(thread, {});  // a device's address
      return call.add_number(arg.param, ArgForm::Int, static_cast<int64_t>(arg.value));
    case api::Tag::Code:
      return call.add_number(arg.param, ArgForm::Code, tables_.site_of(*thread.process, arg.value));
    case api::Tag::Bytes:
      return name_bytes(thread, arg, output);
    case api::Tag::Handle: {
      const ObjectRef object = name_handle(thread, arg, output);
      if (!object.known()) return call.add_form(arg.param, ArgForm::Null);
      const bool command = !output && (call.queue != 0 || call.attributes->records);
      return call.add_object(arg.param, command ? touch(thread, arg.value, object, effect) : effect, object);
    }
    case api::Tag::HostPointer: {
      if (output && effect == Effect::Def) return name_returned_memory(thread, arg);
      if (!output) note_pointer(thread, arg);
      const bool ends = effect == Effect::Release && ends_memory(thread, arg);
      return thread.pending.add_place(arg.param, effect == Effect::Release && !ends ? Effect::Use : effect,
                       places_.of(thread, arg.value));
    }
    case api::Tag::Raw: {
      // Small numbers are numbers in disguise; the rest is a pointer that only the program
      // understands.
      if (arg.value < 65536)
        return call.add_number(arg.param, ArgForm::Raw, static_cast<int64_t>(arg.value));
      return thread.pending.add_place(arg.param, Effect::None, places_.of(thread, arg.value));
    }
  }
}

void CallNaming::name_bytes(TracedThread& thread, const api::DecodedArg& arg, bool output) {
  PendingCall& call = thread.pending;
  const api::Attributes& attributes = *call.attributes;
  if (!output && arg.param == attributes.kernel_value) return name_kernel_arg(thread, arg);
  if (!output && arg.param == attributes.source) {
    call.source.insert(call.source.end(), arg.data.begin(), arg.data.end());
  }
  // A time is a new one each time: a column of numbers, not a blob for each.
  if (int64_t time = 0; output && arg.data.size() == sizeof time && arg.length == sizeof time &&
                        api::is_clock_value(call.shape.fn, arg.param)) {
    std::memcpy(&time, arg.data.data(), sizeof time);
    return call.add_number(arg.param, ArgForm::Int, time);
  }
  const model::BlobId blob = tables_.blob_of(arg.data, arg.length);
  if (!output && call.text == model::NoIndex) call.text = blob;
  if (!output && arg.param == attributes.il) call.il = blob;
  if (!output && arg.param == attributes.options) call.options = blob;
  if (!output && arg.param == attributes.headers) call.headers.push_back(blob);
  return call.add_number(arg.param, ArgForm::Blob, blob);
}

ObjectRef CallNaming::name_handle(TracedThread& thread, const api::DecodedArg& arg, bool output) {
  if (arg.value == 0) return {};
  TracedProcess& process = *thread.process;
  PendingCall& call = thread.pending;
  const Effect effect = arg.effect;
  const bool permanent = arg.kind == ObjectKind::Platform || arg.kind == ObjectKind::Device;
  if (output && effect == Effect::Def && !permanent) return create_handle(thread, arg);

  Handle* handle = process.objects.handles.find(arg.value);
  if (!handle) {
    // Met before we saw it made: a platform or device, or an object that came through an entry path we do
    // not watch.
    const auto cls =
        names_.class_of({arg.kind, permanent ? model::NoIndex : thread.id, model::NoIndex, 0, model::NoIndex});
    handle = &process.objects.handles[arg.value];
    *handle = Handle{names_.create(cls)};
  }
  if (arg.kind == ObjectKind::Device && !output) {
    if (handle->device == model::NoIndex) {
      handle->device = devices_.number_of(process.index, arg.value);
      devices_[handle->device].slot = handle->object.slot;
    }
    if (call.device == 0) call.device = handle->device + 1;
  }
  const bool runs = arg.kind == ObjectKind::Queue || arg.kind == ObjectKind::CommandBuffer;
  if (runs && call.queue == 0) {
    if (arg.kind == ObjectKind::Queue) call.queue = arg.value;
    call.timed_queue = handle->timed;
    call.timed_context = handle->timed_context;
    if (handle->device != model::NoIndex) call.device = handle->device + 1;
  }
  if (arg.kind == ObjectKind::Kernel && call.kernel == 0) call.kernel = arg.value;
  if (arg.kind == ObjectKind::Program && !output) {
    if (call.program == model::NoIndex) call.program = handle->program;
    call.programs.push_back(handle->program);
  }
  if (arg.kind == ObjectKind::Kernel && call.program == model::NoIndex)
    call.program = handle->program;
  if (!output && call.first_handle == 0) call.first_handle = arg.value;
  return handle->object;
}

ObjectRef CallNaming::create_handle(TracedThread& thread, const api::DecodedArg& arg) {
  TracedProcess& process = *thread.process;
  PendingCall& call = thread.pending;
  if (process.objects.handles.find(arg.value))
    drop_handle(thread, arg.value);  // its end was not ours to see
  const bool kernel = arg.kind == ObjectKind::Kernel;
  const model::BlobId label = kernel ? texts_.kernel_label(thread, arg.value) : model::NoIndex;
  const model::ClassId cls = tables_.class_of(thread, arg.kind, label);
  Handle made{names_.create(cls)};
  if ((arg.kind == ObjectKind::Queue || arg.kind == ObjectKind::CommandBuffer) && call.device != 0)
    made.device = static_cast<uint32_t>(call.device - 1);
  if (arg.kind == ObjectKind::Queue && made.device != model::NoIndex) {
    made.timed = devices_.timed.index_of(made.object, made.device);
    const Handle* context = process.objects.handles.find(call.first_handle);
    if (context && names_.kind(context->object) == ObjectKind::Context)
      made.timed_context = devices_.timed.index_of(context->object, made.device);
  }
  if (arg.kind == ObjectKind::Program) {
    made.program = texts_.make_program(call);
  }
  if (arg.kind == ObjectKind::Buffer || arg.kind == ObjectKind::Image) {
    process.known.memory[arg.value] = call.made;
    process.known.any_tied |= call.made.parent != 0 || call.made.in_place != 0;
    // A part keeps the whole alive.
    if (Handle* parent = process.objects.handles.find(call.made.parent)) ++parent->references;
  }
  if (kernel && call.kernel != 0) {  // a copy has its arguments
    if (const auto it = process.known.kernels.find(call.kernel); it != process.known.kernels.end())
      process.known.kernels[arg.value] = KernelArgs(it->second);
  }
  if (kernel) {
    made.program = call.program;
    texts_.note_kernel(call, arg.value, cls, made.program);
  }
  process.objects.handles[arg.value] = made;
  return made.object;
}

void CallNaming::drop_handle(TracedThread& thread, uint64_t handle) {
  TracedProcess& process = *thread.process;
  Handle* h = process.objects.handles.find(handle);
  if (!h) return;
  const ObjectKind kind = names_.kind(h->object);
  names_.release(h->object, thread.id);
  process.objects.handles.erase(handle);
  if (kind == ObjectKind::Event || kind == ObjectKind::Queue) return;  // the most frequent ones: nothing else is known
  const uint64_t parent = process.known.memory_parent(handle);
  process.known.forget(handle);
  if (parent != 0) release_handle(thread, parent);
}

void CallNaming::release_handle(TracedThread& thread, uint64_t handle) {
  Handle* h = thread.process->objects.handles.find(handle);
  if (!h) return;
  const ObjectKind kind = names_.kind(h->object);
  if (kind == ObjectKind::Platform || kind == ObjectKind::Device) return;
  if (h->references > 1) {
    --h->references;
  } else {
    drop_handle(thread, handle);
  }
}

}  // namespace gt::tracer
