// What calls touch without naming it: memory that is shared with what they name, and the commands of command buffers.
#include <algorithm>

#include "tracer/collect/call_naming.h"

namespace gt::tracer {

using model::Effect;
using model::ObjectKind;

namespace {

// Does the call only say what commands will do when their command buffer is enqueued?
bool defers(const api::Attributes& a) { return a.records || a.updates >= 0; }

bool writes(Effect e) { return e == Effect::Def || e == Effect::UseDef; }

// A part of something larger is touched: what is written of it leaves the rest as it was.
void merge(std::vector<Implied>& list, const Implied& touched) {
  const Effect effect = writes(touched.effect) ? Effect::UseDef : Effect::Use;
  constexpr std::ptrdiff_t Near = 64;  // a bound on the cost of huge command buffers
  const auto begin = list.end() - std::min<std::ptrdiff_t>(Near, std::ssize(list));
  const auto known = std::find_if(begin, list.end(), [&](const Implied& i) {
    return i.address == touched.address && i.object.cls == touched.object.cls && i.object.slot == touched.object.slot;
  });
  if (known == list.end()) return list.push_back({effect, touched.object, touched.address});
  if (writes(effect)) known->effect = effect;
}

}  // namespace

// Also what lies under a sub-buffer, an image made of a buffer, a buffer that uses host memory in place. A call that
// only records a command reads nothing yet and writes nothing: the effect to show of it is returned.
Effect CallNaming::touch(TracedThread& thread, uint64_t handle, ObjectRef object, Effect effect) {
  const ObjectKind kind = names_.kind(object);
  if (kind != ObjectKind::Buffer && kind != ObjectKind::Image && kind != ObjectKind::Pipe) return effect;
  const bool records = defers(*thread.pending.attributes);
  const KnownObjects& known = thread.process->known;
  if (records) imply(thread, {effect, object});
  constexpr int Deepest = 8;  // an image of a sub-buffer of a buffer over host memory: 3
  for (int depth = 0; known.any_tied && depth < Deepest; ++depth) {
    const auto it = known.memory.find(handle);
    if (it == known.memory.end()) break;
    if (it->second.in_place != 0) imply(thread, {effect, {}, it->second.in_place});
    handle = it->second.parent;
    const Handle* parent = thread.process->objects.handles.find(handle);
    if (!parent) break;
    imply(thread, {effect, parent->object});
  }
  return records && writes(effect) ? Effect::Use : effect;
}

void CallNaming::imply(TracedThread& thread, const Implied& touched) {
  const bool records = defers(*thread.pending.attributes);
  merge(records ? thread.pending.recorded.touches : thread.pending.implied, touched);
}

void CallNaming::add_implied(TracedThread& thread) {
  PendingCall& call = thread.pending;
  for (const Implied& touched : call.implied) {
    if (touched.address != 0)
      thread.pending.add_place(model::ParamImplied, touched.effect, places_.of(thread, touched.address));
    else
      thread.pending.add_object(model::ParamImplied, touched.effect, touched.object);
  }
  for (const ObjectRef kernel : call.launched) thread.pending.add_object(model::ParamImplied, Effect::Use, kernel);
}

// The command buffer comes first in the calls that record into it.
void CallNaming::record_command(TracedThread& thread) {
  PendingCall& call = thread.pending;
  TracedProcess& process = *thread.process;
  CommandBuffer& to = process.known.command_buffers[call.first_handle];
  for (const Implied& touched : call.recorded.touches) merge(to.touches, touched);
  to.bytes += call.recorded.bytes;
  to.transfers += call.recorded.transfers;
  if (!call.attributes->launch) return;
  if (const Handle* kernel = process.objects.handles.find(call.kernel)) to.launches.push_back(kernel->object);
}

// A kernel in the command buffer gets another argument. What it had counts as touched still: the other commands may
// have it, too.
bool CallNaming::take_command_arg(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t command = in.fixed64(), kind = in.fixed64(), index = in.fixed64(), size = in.fixed64(),
                 value = in.fixed64();
  if (!in.ok() || !thread.pending.open || index >= model::ParamReturn - model::ParamKernelArg) return false;
  Objects& objects = thread.process->objects;
  PendingCall& call = thread.pending;
  if (const Handle* named = objects.handles.find(command))
    call.add_object(model::ParamImplied, Effect::Use, named->object);
  const auto param = static_cast<uint16_t>(model::ParamKernelArg + index);
  const Handle* object = size == sizeof value ? objects.handles.find(value) : nullptr;
  if (kind == static_cast<uint64_t>(CommandArgKind::Pointer) && value == 0) {
    call.add_form(param, model::ArgForm::Null);
  } else if (kind == static_cast<uint64_t>(CommandArgKind::Pointer)) {
    imply(thread, {Effect::UseDef, {}, value});
    call.add_place(param, Effect::Use, places_.of(thread, value));
  } else if (!object) {
    call.add_number(param, model::ArgForm::Int, static_cast<int64_t>(value));
  } else {
    const ObjectRef ref = object->object;
    call.add_object(param, touch(thread, value, ref, Effect::UseDef), ref);
  }
  return true;
}

void CallNaming::replay_commands(TracedThread& thread) {
  PendingCall& call = thread.pending;
  const auto named = api::elements_of(decoded_, call.attributes->replays);
  if (named.empty()) return;
  const auto it = thread.process->known.command_buffers.find(named[0].value);
  if (it == thread.process->known.command_buffers.end()) return;
  call.recorded = it->second;
  call.implied = it->second.touches;
  call.launched = it->second.launches;
  if (it->second.transfers == 0) return;
  call.shape.moves = model::Direction::DeviceToDevice;  // command buffers know no other transfer
  call.bytes = it->second.bytes;
}

}  // namespace gt::tracer
