// What calls do to memory objects that nobody had written, and transfers that go on.
#include <string_view>
#include <utility>

#include "tracer/gtrace/replay/replayer.h"

namespace gt::tracer {

using model::Arg;
using model::ArgForm;
using model::ObjectKind;

// Does a call name a buffer or an image that is there already?
bool Replayer::names_memory_object(const model::Shape& shape, const ShapePlan& plan) const {
  for (size_t i = plan.input_at.front(); i < plan.input_at.back(); ++i) {
    const Arg& a = shape.args[i];
    if (a.form == ArgForm::Object && is_memory_object(world_.trace.classes[a.cls].kind)) return true;
  }
  return false;
}

// All calls but those that only look, or hold, may write what they name, now or (arguments of kernels) later.
void Replayer::note_touched(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  const api::Attributes& a = plan.fn->attributes;
  const bool looks = plan.reads || a.direction == api::DirectionRule::Map || a.releases != ObjectKind::Unknown ||
                     a.retains != ObjectKind::Unknown || std::string_view(plan.fn->name).starts_with("clGet");
  if (looks) return;
  for (size_t i = plan.input_at.front(); i < plan.input_at.back(); ++i) {
    const Arg& arg = shape.args[i];
    if (arg.form == ArgForm::Object && is_memory_object(world_.trace.classes[arg.cls].kind))
      world_.untouched.touch(encoder_.handle(arg.cls, values[plan.value_at[i]]));
  }
}

// Has nobody written what the call brings?
bool Replayer::is_undefined(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const {
  return world_.untouched.any() && (world_.untouched.has(first_of(ObjectKind::Buffer, shape, plan, values)) ||
                                    world_.untouched.has(first_of(ObjectKind::Image, shape, plan, values)));
}

// The transfer does not block, though it did; what it brings is looked at later.
void Replayer::go_on(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  Overlap::Moving moving{first_of(ObjectKind::Queue, shape, plan, values), hold_event(shape, plan), moved_.place,
                         moved_.box.extent(), {}};
  if (moving.event == 0) return;
  if (reads_) {
    world_.memory.note_content(moved_.place, moved_.box.extent(), -1);
    const ResultPlace place = result(first_of(ObjectKind::Buffer, shape, plan, values));
    moving.look = [this, moved = moved_, content = content_, place] {
      if (content >= 0) data_.compare({moved.at, moved.box}, content, place);
    };
  }
  overlap_->add(std::move(moving));
}

}  // namespace gt::tracer
