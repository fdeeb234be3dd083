// Commands that are not made again, since their data was not kept.
#include "tracer/gtrace/replay/replayer.h"

namespace gt::tracer {

using api::FnId;
using model::Arg;
using model::ArgForm;
using model::ObjectKind;

std::string Replayer::kernel_name(const model::Shape& shape, const ShapePlan& plan) const {
  return std::string(world_.trace.label(kernel_class(shape, plan)));
}

// Of a run that names none: its command buffer's.
uint64_t Replayer::queue_of(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) const {
  const uint64_t named = first_of(ObjectKind::Queue, shape, plan, values);
  if (named != 0 || plan.fn->attributes.replays < 0) return named;
  return world_.command_buffers.queue(first_of(ObjectKind::CommandBuffer, shape, plan, values));
}

ReplayedCall Replayer::made_now(const model::Shape& shape, const ShapePlan& plan,
                                std::span<const int64_t> values) const {
  const uint64_t kernel = plan.fn->attributes.launch ? first_of(ObjectKind::Kernel, shape, plan, values) : 0;
  return {shape, plan, values, number_, shape_, queue_of(shape, plan, values), kernel};
}

// Of a recording that has a part: what the call needs.
void Replayer::restore_devices(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  unknown_ = false;
  if (!world_.part.any() || !world_.contents || !plan.chosen) return;
  const ReplayedCall call = made_now(shape, plan, values);
  device_.restore(call);
  unknown_ = device_.works_on_unknown(call);
}

// Is what the launch wrote compared? Then it gives its event.
bool Replayer::reads_back(const ShapePlan& plan) const {
  return world_.compares && world_.contents && !plan.after.empty();
}

// In place of the command's event there is one that is complete.
Status Replayer::leave_out(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  if (plan.fn->attributes.launch && !plan.fn->attributes.records && plan.callable)
    (void)world_.launches.next(kernel_name(shape, plan));
  lose_outputs(shape, plan, values);
  const uint64_t queue = plan.callable ? queue_of(shape, plan, values) : 0;
  cl_context context = nullptr;
  if (queue == 0 || world_.cl.get<decltype(clGetCommandQueueInfo)>(FnId::clGetCommandQueueInfo)(
                        reinterpret_cast<cl_command_queue>(queue), CL_QUEUE_CONTEXT, sizeof context, &context,
                        nullptr) != CL_SUCCESS)
    return {};
  for (const uint16_t i : plan.outputs) {
    const Arg& a = shape.args[i];
    if (a.form != ArgForm::Object || world_.trace.classes[a.cls].kind != ObjectKind::Event) continue;
    cl_int code = CL_SUCCESS;
    const cl_event event = world_.cl.get<decltype(clCreateUserEvent)>(FnId::clCreateUserEvent)(context, &code);
    if (code != CL_SUCCESS) continue;
    world_.cl.get<decltype(clSetUserEventStatus)>(FnId::clSetUserEventStatus)(event, CL_COMPLETE);
    world_.objects.set(a.cls, values[plan.value_at[i]], reinterpret_cast<uint64_t>(event));
  }
  return {};
}

}  // namespace gt::tracer
