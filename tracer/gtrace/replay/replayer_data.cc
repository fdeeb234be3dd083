// The data of a replayed call: what it sends, and what it brings.
#include <algorithm>

#include "tracer/gtrace/replay/replayer.h"
#include "traces/api/special.h"

namespace gt::tracer {

using api::FnId;
using api::Wire;
using model::Arg;
using model::ArgForm;
using model::ObjectKind;

void* Replayer::host(uint64_t address, const api::HostBox& box) {
  if (address == 0 || address > encoder_.places().size()) return nullptr;
  const HostPlace& place = encoder_.places()[address - 1];
  if (uint8_t* const given = given_memory(place, box.extent())) {
    moved_ = {given, place, box};
    if (!reads_ && !world_.mapped.is_to_come(reinterpret_cast<uint64_t>(given))) data_.fill({given, box}, content_);
    return given;
  }
  moved_ = {world_.memory.at(place, box.extent()), place, box};
  // What a buffer uses in place, kernels may write.
  const bool stays = api::attributes(world_.trace.shapes[shape_].fn).creates == ObjectKind::Unknown;
  const bool comes = world_.late_reads.touch(place, box.extent());
  const bool changes = reads_ || (!comes && !(stays && world_.memory.holds(place, box.extent(), content_)));
  if (overlap_ && changes) overlap_->before_change(place, box.extent());
  if (moved_.at && !reads_ && changes) {
    const bool filled = data_.fill({moved_.at, box}, content_);
    world_.memory.note_content(place, box.extent(), filled && stays ? content_ : -1);
  }
  return moved_.at;
}

// Memory that OpenCL gave, where the program used it as its own: shared virtual memory that a buffer lies over, a
// mapping that a write is made from. nullptr: it is the program's, or not so large.
uint8_t* Replayer::given_memory(const HostPlace& place, size_t bytes) const {
  uint64_t at = world_.objects.mapped(place.cls, place.slot, place.offset);
  if (at == 0 && !is_program_memory(world_.trace.classes[place.cls].kind))
    at = encoder_.address(place.cls, place.slot, place.offset);
  return at != 0 && world_.mapped.room(at) >= bytes ? reinterpret_cast<uint8_t*>(at) : nullptr;
}

// What the call will send from memory that it is not given as the program's own: mapped, or shared with devices.
void Replayer::send(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  if (!world_.contents) return;
  send_shared(shape, plan, values);
  const std::vector<uint64_t>& pointers = encoder_.pointers();
  if (content_ < 0 || pointers.empty()) return;
  const uint64_t size = world_.contents->size(content_);
  const api::DirectionRule rule = plan.fn->attributes.direction;
  if (rule == api::DirectionRule::Unmap) {
    if (!has_come(pointers[0])) return;
    api::HostBox box = world_.mapped.find(pointers[0]);
    if (box.height <= 1 && box.depth <= 1) box = {0, std::min(size, world_.mapped.room(pointers[0]))};
    data_.fill({reinterpret_cast<uint8_t*>(pointers[0]), box}, content_);
  } else if (rule == api::DirectionRule::Pointers && pointers.size() > 1) {
    const auto moved = static_cast<uint64_t>(number_of(shape, plan, values, plan.fn->attributes.size));
    const std::optional<HostPlace> from = host_pointer(shape, plan, values, 1);
    if (!from || world_.late_reads.touch(*from, moved)) return;
    data_.fill({reinterpret_cast<uint8_t*>(pointers[1]), {0, std::min(size, moved)}}, content_);
  }
}

// Memory that kernels and copies may read and the program may have written without a call. What a copy names of the
// program's own may be a late read.
void Replayer::send_shared(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  const api::Attributes& attributes = plan.fn->attributes;
  if (!attributes.launch && attributes.direction != api::DirectionRule::Pointers) return;
  for (const uint16_t i : plan.shared) {
    const Arg& a = shape.args[i];
    const int64_t slot = values[plan.value_at[i]], offset = values[plan.value_at[i] + 1];
    const int64_t content = values[plan.value_at[i + 1u]];
    if (content < 0) continue;
    const uint64_t size = world_.contents->size(content);
    if (is_program_memory(world_.trace.classes[a.cls].kind)) {
      if (!attributes.launch) continue;
      data_.fill({world_.memory.at({a.cls, slot, offset}, size), {0, size}}, content);
    } else if (const uint64_t address = encoder_.address(a.cls, slot, offset); address != 0) {
      data_.fill({reinterpret_cast<uint8_t*>(address), {0, std::min(size, world_.mapped.room(address))}}, content);
    }
  }
}

// The `which`-th of the pointers of a call, if it leads to memory of the program's own.
std::optional<HostPlace> Replayer::host_pointer(const model::Shape& shape, const ShapePlan& plan,
                                                std::span<const int64_t> values, size_t which) const {
  for (uint16_t p = 0; p < plan.fn->param_count; ++p) {
    if (plan.fn->params[p].in != Wire::Pointer || which-- > 0) continue;
    const size_t at = plan.input_at[p];
    const Arg& a = shape.args[at];
    if (a.form != ArgForm::Memory || !is_program_memory(world_.trace.classes[a.cls].kind)) return std::nullopt;
    return HostPlace{a.cls, values[plan.value_at[at]], values[plan.value_at[at] + 1]};
  }
  return std::nullopt;
}

// A copy by pointers into the program's memory that goes on when the call returns.
bool Replayer::copies_late(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const {
  const api::Attributes& a = plan.fn->attributes;
  return world_.contents && plan.content >= 0 && a.direction == api::DirectionRule::Pointers &&
         number_of(shape, plan, values, a.blocking) == 0 && host_pointer(shape, plan, values, 0);
}

void Replayer::note_late_copy(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  const auto size = static_cast<size_t>(number_of(shape, plan, values, plan.fn->attributes.size));
  world_.late_reads.add({*host_pointer(shape, plan, values, 0), reinterpret_cast<uint8_t*>(encoder_.pointers().front()),
                         {0, size}, number_, shape.thread, shape_, 0, hold_event(shape, plan), unknown_,
                         in_order(first_of(ObjectKind::Queue, shape, plan, values)), 0});
}

ResultPlace Replayer::result(uint64_t buffer) const {
  return {number_, world_.trace.shapes[shape_].thread, shape_, world_.kernels.element_of(buffer)};
}

void Replayer::look_at_result(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  if (!world_.contents) {
    if (goes_on_ && moved_.at) go_on(shape, plan, values);
    return;
  }
  if (unknown_) {
    content_ = -1;
    if (reads_ || !plan.after.empty())
      world_.outcome.left_out("comparisons of what follows from contents that could not be read");
  }
  look_at_late_reads(shape, plan, values);
  if (world_.late_reads.any()) forget_late_reads(shape, plan, values);
  const api::Attributes& a = plan.fn->attributes;
  if (a.direction == api::DirectionRule::Map) return look_at_mapping(shape, plan, values);
  const std::vector<uint64_t>& pointers = encoder_.pointers();
  if (late_copy_ && !pointers.empty()) return note_late_copy(shape, plan, values);
  if (a.direction == api::DirectionRule::Pointers && content_ >= 0 && pointers.size() > 1 &&
      host_pointer(shape, plan, values, 0) && !host_pointer(shape, plan, values, 1))
    data_.compare(
        {reinterpret_cast<uint8_t*>(pointers[0]), {0, static_cast<size_t>(number_of(shape, plan, values, a.size))}},
        content_, result(0));
  if (reads_ && is_undefined(shape, plan, values)) {
    world_.outcome.undefined();
    content_ = -1;
    late_ = false;
  }
  if (goes_on_ && moved_.at) return go_on(shape, plan, values);
  if (!reads_ || !moved_.at) return;
  world_.memory.note_content(moved_.place, moved_.box.extent(), -1);
  const uint64_t buffer = first_of(ObjectKind::Buffer, shape, plan, values);
  if (content_ >= 0) return data_.compare({moved_.at, moved_.box}, content_, result(buffer));
  if (late_) {
    world_.late_reads.add({moved_.place, moved_.at, moved_.box, number_, shape.thread, shape_, buffer,
                           hold_event(shape, plan), unknown_,
                           in_order(first_of(ObjectKind::Queue, shape, plan, values)), 0});
  }
}

// Was what a map call was to bring there by now? Nothing is waited for there any more.
bool Replayer::has_come(uint64_t address) {
  const std::optional<MappedBoxes::Later> later = world_.mapped.take_later(address);
  if (!later) return true;
  cl_int status = CL_COMPLETE;
  if (const auto event = reinterpret_cast<cl_event>(later->event)) {
    world_.cl.get<decltype(clGetEventInfo)>(FnId::clGetEventInfo)(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                                  sizeof status, &status, nullptr);
    world_.cl.get<decltype(clReleaseEvent)>(FnId::clReleaseEvent)(event);
  }
  return later->waited && status <= CL_COMPLETE;
}

// The event of the call, which the program may release as it likes; 0: there is none.
uint64_t Replayer::hold_event(const model::Shape& shape, const ShapePlan& plan) const {
  for (const api::DecodedArg& m : made_) {
    if (m.param >= plan.fn->param_count || plan.fn->params[m.param].kind != ObjectKind::Event || m.value == 0) continue;
    const bool asked = shape.args[plan.input_at[m.param]].form == ArgForm::Empty;
    if (asked) world_.cl.get<decltype(clRetainEvent)>(FnId::clRetainEvent)(reinterpret_cast<cl_event>(m.value));
    return m.value;
  }
  return 0;
}

void Replayer::look_at_mapping(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  const api::Attributes& a = plan.fn->attributes;
  const bool returned = a.creates == ObjectKind::Mapping;
  const uint64_t address = returned                      ? (made_.empty() ? 0 : made_.front().value)
                           : encoder_.pointers().empty() ? 0
                                                         : encoder_.pointers().front();
  if (address == 0) return;
  api::HostBox box;
  if (a.image >= 0) {
    const size_t region = plan.input_at[static_cast<size_t>(a.region)];
    const auto element = [&](size_t i) { return static_cast<size_t>(number_at(shape, plan, values, region + i)); };
    if (plan.input_at[static_cast<size_t>(a.region) + 1] - region == 3) {
      const auto image = reinterpret_cast<cl_mem>(first_of(ObjectKind::Image, shape, plan, values));
      const size_t sides[] = {element(0), element(1), element(2)};
      size_t pitches[] = {0, 0};
      for (const api::DecodedArg& m : made_)
        if (m.param == a.pitches || m.param == a.pitches + 1) pitches[m.param - a.pitches] = m.value;
      box = api::image_box(image, sides, pitches[0], pitches[1]);
    }
  }
  if (a.image < 0) box = {0, static_cast<size_t>(number_of(shape, plan, values, a.size))};
  returned ? world_.mapped.set(address, box) : world_.mapped.forget(address);
  (void)has_come(address);
  if (number_of(shape, plan, values, a.blocking) == 0)
    return world_.mapped.comes_later(address, plan.content >= 0, hold_event(shape, plan));
  if (content_ < 0) return;
  if (is_undefined(shape, plan, values)) return world_.outcome.undefined();
  data_.compare({reinterpret_cast<uint8_t*>(address), box}, content_,
                result(first_of(ObjectKind::Buffer, shape, plan, values)));
}

void Replayer::look_at_late_reads(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  if (plan.fn->attributes.launch) return;
  for (const uint16_t i : plan.shared) {
    const Arg& a = shape.args[i];
    const int64_t content = values[plan.value_at[i + 1u]];
    if (content < 0) continue;
    const HostPlace place{a.cls, values[plan.value_at[i]], values[plan.value_at[i] + 1]};
    if (const uint64_t mapped = world_.objects.mapped(place.cls, place.slot, place.offset))
      (void)has_come(mapped);
    if (const uint64_t given = encoder_.address(place.cls, place.slot, place.offset)) (void)has_come(given);
    const bool on_stack = world_.trace.classes[a.cls].kind == ObjectKind::Stack;
    const std::optional<LateRead> read = world_.late_reads.take(place, world_.contents->size(content), on_stack);
    if (!read) continue;
    // It had ended when the recording came here, so nothing that it waits for is still to come.
    if (const auto event = reinterpret_cast<cl_event>(read->event)) {
      world_.cl.get<decltype(clWaitForEvents)>(FnId::clWaitForEvents)(1, &event);
      world_.cl.get<decltype(clReleaseEvent)>(FnId::clReleaseEvent)(event);
    }
    if (read->unknown) continue;
    data_.compare({read->at, read->box}, content,
                  {read->call, read->thread, read->shape, world_.kernels.element_of(read->buffer)});
  }
}

}  // namespace gt::tracer
