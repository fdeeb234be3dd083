// What calls touch without naming it: memory that is shared with what they name, and the commands of command buffers.
#include <algorithm>

#include "tracer/collect/call_naming.h"
#include "traces/model/fold/update_param.h"

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

// What an update says of a command. Kernels' arguments are shown as a launch's, too. What a kernel had counts as
// touched still: the other commands may have it, too.
bool CallNaming::take_command_arg(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const auto kind = static_cast<CommandArgKind>(in.fixed64());
  const uint64_t command = in.fixed64();
  Change change;
  change.part = static_cast<api::UpdatePart>(in.fixed64());
  change.index = in.fixed64();
  change.size = in.fixed64();
  change.form = static_cast<CommandArgForm>(in.fixed64());
  change.value = in.fixed64();
  if (change.form == CommandArgForm::Bytes) change.bytes = in.raw(change.value);
  PendingCall& call = thread.pending;
  if (!in.ok() || !call.open) return false;
  const auto number = [&call](uint64_t v) {
    call.updates.push_back({model::ArgForm::Int, {}, static_cast<int64_t>(v)});
  };
  if (kind == CommandArgKind::Commands) {
    number(change.value);
  } else if (kind == CommandArgKind::Command) {
    const Handle* const named = thread.process->objects.handles.find(command);
    if (named) call.add_object(model::ParamImplied, Effect::Use, named->object);
    if (named)
      call.updates.push_back({model::ArgForm::Object, {named->object, 0}});
    else
      call.updates.push_back({model::ArgForm::Raw, {}, static_cast<int64_t>(command)});
    number(change.index);
  } else {
    number(static_cast<uint64_t>(change.part));
    number(change.index);
    number(change.size);
    call.updates.push_back(name_change(thread, change));
  }
  return true;
}

UpdateElement CallNaming::name_change(TracedThread& thread, const Change& change) {
  PendingCall& call = thread.pending;
  const bool argument = change.part == api::UpdatePart::Argument || change.part == api::UpdatePart::Pointer;
  const bool shown = argument && change.index < model::ParamReturn - model::ParamKernelArg;
  const auto param = static_cast<uint16_t>(model::ParamKernelArg + change.index);
  const bool word = change.form == CommandArgForm::Word, leads = change.form == CommandArgForm::Address;
  if (change.form == CommandArgForm::None || (leads && change.value == 0)) {
    if (shown) call.add_form(param, model::ArgForm::Null);
    return {model::ArgForm::Null, {}};
  }
  if (leads) {
    imply(thread, {Effect::UseDef, {}, change.value});
    const Place place = places_.of(thread, change.value);
    if (shown) call.add_place(param, Effect::Use, place);
    return {model::ArgForm::Memory, place};
  }
  const bool may_name = word && argument && change.size == sizeof change.value;
  if (const Handle* const named = may_name ? thread.process->objects.handles.find(change.value) : nullptr) {
    const ObjectRef object = named->object;
    if (shown) call.add_object(param, touch(thread, change.value, object, Effect::UseDef), object);
    return {model::ArgForm::Object, {object, 0}};
  }
  const UpdateElement number{word ? model::ArgForm::Int : model::ArgForm::Blob,
                             {},
                             word ? static_cast<int64_t>(change.value) : tables_.blob_of(change.bytes, change.size)};
  if (shown) call.add_number(param, number.form, number.number);
  return number;
}

// Behind what the call returned, all together.
void CallNaming::add_updates(TracedThread& thread) {
  PendingCall& call = thread.pending;
  for (const UpdateElement& e : call.updates) {
    if (e.form == model::ArgForm::Object)
      call.add_object(model::ParamUpdate, Effect::None, e.place.object);
    else if (e.form == model::ArgForm::Memory)
      call.add_place(model::ParamUpdate, Effect::None, e.place);
    else if (e.form == model::ArgForm::Null)
      call.add_form(model::ParamUpdate, e.form);
    else
      call.add_number(model::ParamUpdate, e.form, e.number);
  }
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
