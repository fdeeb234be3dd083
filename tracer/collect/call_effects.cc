// What some OpenCL calls mean beyond their own arguments: references, kernel arguments, mappings,
// builds.
#include <algorithm>
#include <cstring>

#include "tracer/collect/collector.h"
#include "tracer/collect/collector_state.h"

namespace gt::tracer {

using model::ArgForm;
using model::Effect;
using model::ObjectKind;

// clSetKernelArg's value: an object, when its eight bytes are a live handle of a kind that kernels
// take. (A number that happens to equal a handle is taken for one; handles are heap addresses, so
// that is rare.)
void Collector::name_kernel_arg(Thread& thread, const api::DecodedArg& arg) {
  Objects& objects = thread.process->objects;
  uint64_t value = 0;
  std::memcpy(&value, arg.data.data(), std::min<size_t>(arg.data.size(), 8));
  ObjectRef object;
  if (arg.length == 8 && value != 0) {
    if (const Handle* handle = objects.handles.find(value)) {
      const ObjectKind kind = names_.kind(handle->object);
      if (kind == ObjectKind::Buffer || kind == ObjectKind::Image || kind == ObjectKind::Pipe ||
          kind == ObjectKind::Sampler || kind == ObjectKind::Queue) {
        object = handle->object;
      }
    }
  }
  bind_kernel_arg(thread, object);
  if (object.known()) return add_object(thread, arg.param, Effect::Use, object);
  if (arg.length <= 8)
    return add(thread, arg.param, ArgForm::Int, Effect::None, static_cast<int64_t>(value));
  add(thread, arg.param, ArgForm::Blob, Effect::None, blob_of(arg.data, arg.length));
}

void Collector::bind_kernel_arg(Thread& thread, ObjectRef object) {
  const Thread::Pending& call = thread.pending;
  constexpr uint64_t MostArgs =
      4096;  // a wild index is the driver's to refuse, not ours to allocate for
  if (call.kernel == 0 || call.arg_index >= MostArgs) return;
  std::vector<ObjectRef>& bound = thread.process->objects.kernel_args[call.kernel];
  if (bound.size() <= call.arg_index) bound.resize(call.arg_index + 1);
  bound[call.arg_index] = object;
}

// A launch uses what is bound to its kernel. Without its source, every buffer may be written (the
// analyzer knows better).
void Collector::add_bound_args(Thread& thread) {
  const auto it = thread.process->objects.kernel_args.find(thread.pending.kernel);
  if (it == thread.process->objects.kernel_args.end()) return;
  for (size_t i = 0; i < it->second.size(); ++i) {
    const ObjectRef object = it->second[i];
    if (!object.known()) continue;
    const ObjectKind kind = names_.kind(object);
    const bool data =
        kind == ObjectKind::Buffer || kind == ObjectKind::Image || kind == ObjectKind::Pipe;
    add_object(thread, static_cast<uint16_t>(model::ParamKernelArg + i),
               data ? Effect::UseDef : Effect::Use, object);
  }
}

void Collector::before_call(Thread& thread) {
  Thread::Pending& call = thread.pending;
  Objects& objects = thread.process->objects;
  const api::Attributes& attributes = api::attributes(call.shape.fn);
  if (attributes.launch) add_bound_args(thread);
  if (attributes.retains != ObjectKind::Unknown) {
    if (Handle* handle = objects.handles.find(call.first_handle)) ++handle->references;
  }
  if (attributes.releases != ObjectKind::Unknown) release_handle(thread, call.first_handle);
  if (call.ended_memory != 0) {
    const Memory* memory = objects.memory_at(call.ended_memory);
    if (memory && call.bytes == 0) call.bytes = memory->size;  // an unmap moves what was mapped
    end_memory(thread, call.ended_memory);
  }
}

void Collector::end_memory(Thread& thread, uint64_t base) {
  Memory* memory = thread.process->objects.memory_at(base);
  if (!memory) return;
  if (memory->maps > 1) {
    --memory->maps;
    return;
  }
  names_.release(thread.process->objects.take_memory(base, nullptr).object, thread.id);
}

// A text given to a program that exists is its build options; the kernels made from it later were
// built with them.
void Collector::after_call(Thread& thread) {
  const Thread::Pending& call = thread.pending;
  if (api::attributes(call.shape.fn).creates == ObjectKind::Unknown && call.kernel == 0 &&
      call.program < programs_.size() && call.text != model::NoIndex) {
    programs_[call.program].options = call.text;
  }
}

// A number that the collector needs later: the index of a kernel argument, the bytes of a transfer.
void Collector::note_number(Thread& thread, const api::DecodedArg& arg) {
  const api::Attributes& attributes = api::attributes(thread.pending.shape.fn);
  if (arg.param == attributes.kernel_index) thread.pending.arg_index = arg.value;
  if (arg.param == attributes.size) thread.pending.bytes = arg.value;
}

// The memory that a map call or an SVM allocation returned.
void Collector::name_returned_memory(Thread& thread, const api::DecodedArg& arg) {
  Objects& objects = thread.process->objects;
  const bool svm = arg.kind == ObjectKind::Svm;
  if (!svm) {
    if (Memory* again = objects.memory_at(arg.value)) ++again->maps;
    if (Place place = objects.find_memory(arg.value); place.found) {
      return add_place(thread, arg.param, Effect::UseDef, place);
    }
  }
  if (Place stale = objects.take_memory(arg.value, nullptr); stale.found)
    names_.release(stale.object, thread.id);
  const ObjectRef object =
      names_.create(class_of(thread, svm ? ObjectKind::Svm : ObjectKind::Mapping));
  objects.add_memory(arg.value, std::max<uint64_t>(arg.length, thread.pending.bytes), object);
  add_object(thread, arg.param, Effect::Def, object);
}

}  // namespace gt::tracer
