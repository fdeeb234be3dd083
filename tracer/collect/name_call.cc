// The naming half of the collector: from decoded arguments to a shape and its values.
#include <algorithm>
#include <cstring>

#include "tracer/collect/collector.h"
#include "tracer/collect/collector_state.h"
#include "traces/api/clock_values.h"

namespace gt::tracer {

using model::ArgForm;
using model::Effect;
using model::ObjectKind;

void Collector::add_place(Thread& thread, uint16_t param, Effect effect, const Place& place) {
  thread.pending.shape.args.push_back({param, ArgForm::Memory, effect, place.object.cls});
  thread.pending.values.push_back(place.object.slot);
  thread.pending.values.push_back(static_cast<int64_t>(place.offset));
}

model::ClassId Collector::class_of_data(uint32_t module) {
  if (module >= data_classes_.size()) data_classes_.resize(module + 1, model::NoIndex);
  model::ClassId& known = data_classes_[module];
  if (known == model::NoIndex) {
    const std::string& path = trace_.modules[module].path;
    known = names_.class_of({ObjectKind::Static, model::NoIndex, model::NoIndex, 0,
                             blob_of(as_bytes(path), path.size())});
  }
  return known;
}

// Live memory, then the calling thread's stack (relative to the caller's frame, which ASLR does not move), then static
// data, then other threads' stacks (relative to their bottom), then a number of its own for each address that nothing
// explains.
Place Collector::place_of(Thread& thread, uint64_t address) {
  Process& process = *thread.process;
  if (Place place = process.objects.find_memory(address); place.found) return place;
  if (address >= thread.stack_low && address < thread.stack_high) {
    const auto cls =
        names_.class_of({ObjectKind::Stack, thread.id, model::NoIndex, 0, model::NoIndex});
    return {{cls, 0}, address - thread.pending.stack_pointer, true};
  }
  if (const uint32_t module = process.modules.find_data(address); module != model::NoIndex) {
    const model::ClassId cls = class_of_data(module);
    return {{cls, 0}, address - trace_.modules[module].base, true};
  }
  for (const auto& other : threads_) {
    if (other->process != &process || other->ended) continue;
    if (address < other->stack_low || address >= other->stack_high) continue;
    const auto cls = names_.class_of({ObjectKind::Stack, other->id, model::NoIndex, 0, model::NoIndex});
    return {{cls, 0}, address - other->stack_high, true};
  }
  ObjectRef& unknown = process.unknown[address];
  if (!unknown.known()) {
    unknown =
        names_.create(names_.class_of({ObjectKind::Unknown, thread.id, model::NoIndex, 0, model::NoIndex}));
  }
  return {unknown, 0, true};
}

void Collector::name_argument(Thread& thread, const api::DecodedArg& arg, bool output) {
  Thread::Pending& call = thread.pending;
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
      return call.add_number(arg.param, ArgForm::Int, static_cast<int64_t>(arg.value));
    case api::Tag::Code:
      return call.add_number(arg.param, ArgForm::Code, site_of(*thread.process, arg.value));
    case api::Tag::Bytes: {
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
      const model::BlobId blob = blob_of(arg.data, arg.length);
      if (!output && call.text == model::NoIndex) call.text = blob;
      if (!output && arg.param == attributes.options) call.options = blob;
      if (!output && arg.param == attributes.headers) call.headers.push_back(blob);
      return call.add_number(arg.param, ArgForm::Blob, blob);
    }
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
      return add_place(thread, arg.param, effect == Effect::Release && !ends ? Effect::Use : effect,
                       place_of(thread, arg.value));
    }
    case api::Tag::Raw: {
      // Small numbers are numbers in disguise; the rest is a pointer that only the program
      // understands.
      if (arg.value < 65536)
        return call.add_number(arg.param, ArgForm::Raw, static_cast<int64_t>(arg.value));
      return add_place(thread, arg.param, Effect::None, place_of(thread, arg.value));
    }
  }
}

ObjectRef Collector::name_handle(Thread& thread, const api::DecodedArg& arg, bool output) {
  if (arg.value == 0) return {};
  Process& process = *thread.process;
  Thread::Pending& call = thread.pending;
  const Effect effect = arg.effect;
  const bool permanent = arg.kind == ObjectKind::Platform || arg.kind == ObjectKind::Device;
  if (output && effect == Effect::Def && !permanent) return create_handle(thread, arg);

  Handle* handle = process.objects.handles.find(arg.value);
  if (!handle) {
    // Met before we saw it made: a platform or device, or an object that came through a door we do
    // not watch.
    const auto cls =
        names_.class_of({arg.kind, permanent ? model::NoIndex : thread.id, model::NoIndex, 0, model::NoIndex});
    handle = &process.objects.handles[arg.value];
    *handle = Handle{names_.create(cls)};
  }
  if (arg.kind == ObjectKind::Device && !output) {
    if (handle->device == model::NoIndex) handle->device = device_of(process, arg.value);
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

ObjectRef Collector::create_handle(Thread& thread, const api::DecodedArg& arg) {
  Process& process = *thread.process;
  Thread::Pending& call = thread.pending;
  if (process.objects.handles.find(arg.value))
    drop_handle(thread, arg.value);  // its end was not ours to see
  const bool kernel = arg.kind == ObjectKind::Kernel;
  const model::BlobId label = kernel ? kernel_label(thread, arg.value) : model::NoIndex;
  const model::ClassId cls = class_of(thread, arg.kind, label);
  Handle made{names_.create(cls)};
  if ((arg.kind == ObjectKind::Queue || arg.kind == ObjectKind::CommandBuffer) && call.device != 0)
    made.device = static_cast<uint32_t>(call.device - 1);
  if (arg.kind == ObjectKind::Queue && made.device != model::NoIndex) {
    made.timed = timed_.index_of(made.object, made.device);
    const Handle* context = process.objects.handles.find(call.first_handle);
    if (context && names_.kind(context->object) == ObjectKind::Context)
      made.timed_context = timed_.index_of(context->object, made.device);
  }
  if (arg.kind == ObjectKind::Program) {
    made.program = static_cast<uint32_t>(programs_.size());
    programs_.push_back(program_of(thread));
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
    note_kernel(thread, arg.value, cls, made.program);
  }
  process.objects.handles[arg.value] = made;
  return made.object;
}

void Collector::drop_handle(Thread& thread, uint64_t handle) {
  Process& process = *thread.process;
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

void Collector::release_handle(Thread& thread, uint64_t handle) {
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
