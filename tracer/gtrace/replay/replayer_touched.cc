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

// All calls but those that only look, or hold, may write what they name, now or (arguments of kernels) later. Of blocks
// even those: what is read may go into them, and a map ends with the program's data.
void Replayer::note_touched(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  const api::Attributes& a = plan.fn->attributes;
  const bool asks = a.direction == api::DirectionRule::Map || std::string_view(plan.fn->name).starts_with("clGet");
  const bool looks = asks || plan.reads || a.releases != ObjectKind::Unknown || a.retains != ObjectKind::Unknown;
  if (asks) return;
  for (size_t i = plan.input_at.front(); i < plan.input_at.back(); ++i) {
    const Arg& arg = shape.args[i];
    if (!looks && arg.form == ArgForm::Object && is_memory_object(world_.trace.classes[arg.cls].kind))
      world_.untouched.touch(encoder_.handle(arg.cls, values[plan.value_at[i]]));
    if (is_block(arg)) world_.untouched.touch(world_.objects.find(arg.cls, values[plan.value_at[i]]));
  }
}

bool Replayer::is_block(const Arg& arg) const {
  const bool named = arg.form == ArgForm::Object || arg.form == ArgForm::Memory;
  return named && world_.trace.classes[arg.cls].kind == ObjectKind::Svm;
}

// Is what is mapped shared virtual memory that nobody has written?
bool Replayer::maps_undefined(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const {
  for (size_t i = plan.input_at.front(); i < plan.input_at.back(); ++i) {
    if (is_block(shape.args[i]))
      return world_.untouched.has(world_.objects.find(shape.args[i].cls, values[plan.value_at[i]]));
  }
  return false;
}

// What the commands of a command buffer have from now on, their runs may write.
void Replayer::note_updates(const ShapePlan& plan, const model::Shape& shape, std::span<const int64_t> values) {
  model::ClassId kernel = model::NoIndex;
  for (size_t i = 0; i < plan.updates.size(); ++i) {
    const Arg& arg = shape.args[plan.updates[i]];
    if (arg.form != ArgForm::Object) continue;
    const uint64_t handle = encoder_.handle(arg.cls, values[plan.value_at[plan.updates[i]]]);
    const ObjectKind kind = world_.trace.classes[arg.cls].kind;
    if (kind == ObjectKind::MutableCommand) kernel = world_.command_buffers.kernel_of(handle);
    if (!is_memory_object(kind)) continue;
    world_.untouched.touch(handle);
    const int64_t index = i < 2 ? -1 : number_at(shape, plan, values, plan.updates[i - 2]);  // (part, index, size)
    world_.kernels.rebound(kernel, static_cast<uint32_t>(index), handle);
  }
}

// Has nobody written what the call brings?
bool Replayer::is_undefined(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const {
  if (!world_.untouched.any()) return false;
  if (plan.fn->attributes.direction == api::DirectionRule::Map && maps_undefined(shape, plan, values)) return true;
  return world_.untouched.has(first_of(ObjectKind::Buffer, shape, plan, values)) ||
         world_.untouched.has(first_of(ObjectKind::Image, shape, plan, values));
}

// The queue, if its commands run one after the other; else 0.
uint64_t Replayer::in_order(uint64_t queue) const {
  cl_command_queue_properties how = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  const auto ask = world_.cl.get<decltype(clGetCommandQueueInfo)>(api::FnId::clGetCommandQueueInfo);
  if (queue != 0) ask(reinterpret_cast<cl_command_queue>(queue), CL_QUEUE_PROPERTIES, sizeof how, &how, nullptr);
  return (how & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0 ? 0 : queue;
}

// Reads whose data the program has never waited for itself, but for what came behind them: what it sends from their
// memory from now on is its own.
void Replayer::forget_late_reads(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  for (const api::DecodedArg& m : made_) {
    if (m.param < plan.fn->param_count && plan.fn->params[m.param].kind == ObjectKind::Event && m.value != 0)
      world_.late_reads.note_event(m.value);
  }
  const api::Attributes& a = plan.fn->attributes;
  const bool blocks = !goes_on_ && number_of(shape, plan, values, a.blocking) != 0;
  if (!blocks && !a.waits) return;
  std::vector<uint64_t> over;
  if (const uint64_t queue = first_of(ObjectKind::Queue, shape, plan, values)) {
    over = world_.late_reads.waited(queue, 0);
  } else {
    const auto ask = world_.cl.get<decltype(clGetEventInfo)>(api::FnId::clGetEventInfo);
    for (size_t i = plan.input_at.front(); i < plan.input_at.back(); ++i) {
      const Arg& arg = shape.args[i];
      if (arg.form != ArgForm::Object || world_.trace.classes[arg.cls].kind != ObjectKind::Event) continue;
      const uint64_t event = encoder_.handle(arg.cls, values[plan.value_at[i]]);
      cl_command_queue queue_of = nullptr;
      ask(reinterpret_cast<cl_event>(event), CL_EVENT_COMMAND_QUEUE, sizeof queue_of, &queue_of, nullptr);
      for (const uint64_t e : world_.late_reads.waited(reinterpret_cast<uint64_t>(queue_of), event)) over.push_back(e);
    }
  }
  const auto release = world_.cl.get<decltype(clReleaseEvent)>(api::FnId::clReleaseEvent);
  for (const uint64_t event : over) release(reinterpret_cast<cl_event>(event));
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
