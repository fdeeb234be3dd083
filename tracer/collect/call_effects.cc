// What some OpenCL calls mean beyond their own arguments: references, kernel arguments, mappings, transfers, builds.
#include <algorithm>
#include <cstring>

#include "tracer/collect/call_naming.h"

namespace gt::tracer {

using model::ArgForm;
using model::Effect;
using model::ObjectKind;

// clSetKernelArg's value: an object, when its eight bytes are a live handle of a kind that kernels
// take. (A number that happens to equal a handle is taken for one; handles are heap addresses, so
// that is rare: docs/decisions.)
void CallNaming::name_kernel_arg(TracedThread& thread, const api::DecodedArg& arg) {
  uint64_t value = 0;
  std::memcpy(&value, arg.data.data(), std::min<size_t>(arg.data.size(), 8));
  const BoundArg bound = arg.length == 8 ? bound_value(names_, *thread.process, value) : BoundArg{};
  bind_kernel_arg(thread, bound);
  if (bound.object.known()) return thread.pending.add_object(arg.param, Effect::Use, bound.object);
  if (arg.length <= 8)
    return thread.pending.add_number(arg.param, ArgForm::Int, static_cast<int64_t>(value));
  thread.pending.add_number(arg.param, ArgForm::Blob, tables_.blob_of(arg.data, arg.length));
}

void CallNaming::bind_kernel_arg(TracedThread& thread, const BoundArg& arg) {
  const PendingCall& call = thread.pending;
  constexpr uint64_t MostArgs =
      4096;  // a wild index is the driver's to refuse, not ours to allocate for
  if (call.kernel == 0 || call.arg_index >= MostArgs) return;
  std::vector<BoundArg>& bound = thread.process->known.kernels[call.kernel].bound;
  if (bound.size() <= call.arg_index) bound.resize(call.arg_index + 1);
  bound[call.arg_index] = arg;
}

// A launch uses what is bound to its kernel. Without its source, everything may be written (the
// analyzer knows better).
void CallNaming::add_bound_args(TracedThread& thread) {
  const auto it = thread.process->known.kernels.find(thread.pending.kernel);
  if (it == thread.process->known.kernels.end()) return;
  for (size_t i = 0; i < it->second.bound.size(); ++i) {
    const BoundArg& arg = it->second.bound[i];
    const auto param = static_cast<uint16_t>(model::ParamKernelArg + i);
    if (arg.address != 0) {
      thread.pending.add_place(param, Effect::UseDef, places_.of(thread, arg.address));
      if (thread.pending.attributes->records) imply(thread, {Effect::UseDef, {}, arg.address});
    } else if (arg.object.known()) {
      const ObjectKind kind = names_.kind(arg.object);
      const bool data =
          kind == ObjectKind::Buffer || kind == ObjectKind::Image || kind == ObjectKind::Pipe;
      const Effect effect = touch(thread, arg.handle, arg.object, data ? Effect::UseDef : Effect::Use);
      thread.pending.add_object(param, effect, arg.object);
    }
  }
  for (const uint64_t pointer : it->second.pointers) imply(thread, {Effect::UseDef, {}, pointer});
}

void CallNaming::before_call(TracedThread& thread) {
  PendingCall& call = thread.pending;
  TracedProcess& process = *thread.process;
  const api::Attributes& attributes = *call.attributes;
  if (attributes.launch) add_bound_args(thread);
  if (attributes.replays >= 0) replay_commands(thread);
  if (attributes.creates != ObjectKind::Unknown) call.made = api::created_memory(call.shape.fn, decoded_);
  if (attributes.direction == api::DirectionRule::Map) call.map_inputs = decoded_;
  if (attributes.transfer != api::Transfer::None) {
    const api::TransferSize size = api::transfer_size_of(call.shape.fn, decoded_, process.known);
    if (attributes.records) {
      call.recorded.bytes = size.bytes;
      call.recorded.transfers = size.direction != api::Transfer::None;
    } else {
      call.shape.moves = size.direction;
      call.bytes = size.bytes;
    }
  }
  if (call.made.in_place != 0) call.bytes = call.made.facts.bytes;  // moves nothing; its size is worth a sum
  if (attributes.direction == api::DirectionRule::Unmap && call.unmapped_at != 0) {
    call.unmapped = process.known.mapping(call.unmapped_at);
    process.known.unmap(call.unmapped_at);
  }
  if (!call.pointers.empty() && call.kernel != 0) process.known.kernels[call.kernel].pointers = call.pointers;
  add_implied(thread);
  if (attributes.retains != ObjectKind::Unknown) {
    if (Handle* handle = process.objects.handles.find(call.first_handle)) ++handle->references;
  }
  if (attributes.releases != ObjectKind::Unknown) release_handle(thread, call.first_handle);
  for (const uint64_t base : call.ended) end_memory(thread, base);
}

// Does giving back this pointer end an object? An unmap ends a mapping of its own, not the host memory that the buffer
// uses in place; and a place that is mapped twice is still mapped after one unmap.
bool CallNaming::ends_memory(TracedThread& thread, const api::DecodedArg& arg) {
  const Memory* memory = given_back(thread, arg);
  return memory && memory->maps == 1;
}

// The memory that the call gives back by this pointer; nullptr when there is none. clEnqueueSVMFree with a function of
// the program gives nothing back: that function will.
const Memory* CallNaming::given_back(TracedThread& thread, const api::DecodedArg& arg) {
  if (arg.effect != Effect::Release || thread.pending.calls_back) return nullptr;
  const Memory* memory = thread.process->objects.memory_at(arg.value);
  return memory && names_.kind(memory->object) == arg.kind ? memory : nullptr;
}

void CallNaming::end_memory(TracedThread& thread, uint64_t base) {
  Memory* memory = thread.process->objects.memory_at(base);
  if (!memory) return;
  if (memory->maps > 1) {
    --memory->maps;
    return;
  }
  names_.release(thread.process->objects.take_memory(base, nullptr).object, thread.id);
}

void CallNaming::after_call(TracedThread& thread) {
  PendingCall& call = thread.pending;
  const api::Attributes& attributes = *call.attributes;
  if (attributes.direction == api::DirectionRule::Map && !call.error) note_mapping(thread);
  if (call.error && call.unmapped.flags != 0) thread.process->known.mapped.emplace(call.unmapped_at, call.unmapped);
  if ((attributes.records || attributes.updates >= 0) && !call.error) record_command(thread);
  if (attributes.options >= 0 && attributes.creates == ObjectKind::Unknown) texts_.compile_program(call);
}

void CallNaming::note_mapping(TracedThread& thread) {
  PendingCall& call = thread.pending;
  if (call.mapped_at == 0) return;
  KnownObjects& known = thread.process->known;
  known.mapped.emplace(call.mapped_at, api::new_mapping(call.shape.fn, call.map_inputs, decoded_, known).mapped);
}

// A pointer that the call binds, sets, maps, or gives back.
void CallNaming::note_pointer(TracedThread& thread, const api::DecodedArg& arg) {
  PendingCall& call = thread.pending;
  const api::Attributes& attributes = *call.attributes;
  if (arg.param == attributes.kernel_value) bind_kernel_arg(thread, {{}, 0, arg.value});
  if (api::param_info(call.shape.fn, arg.param).in == api::Wire::Info) call.pointers.push_back(arg.value);
  if (attributes.direction == api::DirectionRule::Map) call.mapped_at = arg.value;
  if (attributes.direction == api::DirectionRule::Unmap) call.unmapped_at = arg.value;
  if (given_back(thread, arg)) call.ended.push_back(arg.value);
}

// The memory that a map call or an SVM allocation returned.
void CallNaming::name_returned_memory(TracedThread& thread, const api::DecodedArg& arg) {
  PendingCall& call = thread.pending;
  Objects& objects = thread.process->objects;
  const bool svm = arg.kind == ObjectKind::Svm;
  uint64_t size = arg.length;
  if (!svm) {
    const bool in_place =
        std::any_of(call.implied.begin(), call.implied.end(), [](const Implied& i) { return i.address != 0; });
    call.mapped_at = arg.value;
    size = api::new_mapping(call.shape.fn, call.map_inputs, decoded_, thread.process->known).extent;
    if (Memory* again = objects.memory_at(arg.value); again && names_.kind(again->object) == arg.kind) ++again->maps;
    // A mapping of host memory that the buffer uses in place is that memory, whoever made it.
    if (in_place || objects.find_memory(arg.value).found) {
      return thread.pending.add_place(arg.param, Effect::UseDef, places_.of(thread, arg.value));
    }
  }
  if (Place stale = objects.take_memory(arg.value, nullptr); stale.found)
    names_.release(stale.object, thread.id);
  const ObjectRef object =
      names_.create(tables_.class_of(thread, svm ? ObjectKind::Svm : ObjectKind::Mapping));
  objects.add_memory(arg.value, size, object);
  if (Memory* memory = objects.memory_at(arg.value); memory && svm) {
    memory->svm = true;
    memory->on_host = call.attributes->on_host;
    call.bytes = size;
    call.shared_at = arg.value;
  }
  thread.pending.add_object(arg.param, Effect::Def, object);
}

// What the arguments say of it was taken at the call's entry, and is nothing.
bool CallNaming::take_memory_facts(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t bytes = in.fixed64(), element_bytes = in.fixed64();
  if (!in.ok() || !thread.pending.open) return false;
  thread.pending.made.facts = {bytes, element_bytes};
  return true;
}

}  // namespace gt::tracer
