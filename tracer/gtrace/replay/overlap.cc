#include "tracer/gtrace/replay/overlap.h"

#include <algorithm>
#include <string_view>

namespace gt::tracer {

using api::FnId;
using model::ObjectKind;

namespace {

enum class Needs : uint8_t { Nothing, Queue, Everything };

bool moves_program_memory(const ShapePlan& plan) {
  for (uint16_t p = 0; p < plan.fn->param_count; ++p)
    if (plan.fn->params[p].in == api::Wire::HostData) return true;
  return false;
}

bool is_enqueue(const ShapePlan& plan) {
  return plan.fn->param_count > 0 && plan.fn->params[0].kind == ObjectKind::Queue;
}

bool is_query(const ShapePlan& plan) { return std::string_view(plan.fn->name).starts_with("clGet"); }

Needs needs_of(const ShapePlan& plan, bool is_event_query) {
  const api::Attributes& a = plan.fn->attributes;
  if (is_query(plan)) return is_event_query ? Needs::Everything : Needs::Nothing;
  if (a.releases == ObjectKind::Queue || a.waits) return Needs::Everything;
  if (a.releases != ObjectKind::Unknown || a.retains != ObjectKind::Unknown) return Needs::Nothing;
  if (is_enqueue(plan)) return Needs::Queue;
  if (a.kernel_value >= 0 || a.creates != ObjectKind::Unknown) return Needs::Nothing;
  return Needs::Everything;
}

}  // namespace

bool Overlap::may_go_on(const ShapePlan& plan, uint64_t queue) const {
  if (plan.fn->attributes.blocking < 0 || queue == 0 || !is_enqueue(plan) || !moves_program_memory(plan)) return false;
  cl_command_queue_properties how = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  const auto ask = cl_.get<decltype(clGetCommandQueueInfo)>(FnId::clGetCommandQueueInfo);
  const cl_int code =
      ask(reinterpret_cast<cl_command_queue>(queue), CL_QUEUE_PROPERTIES, sizeof how, &how, nullptr);
  return code == CL_SUCCESS && (how & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
}

bool Overlap::reads_under_way() const {
  return std::any_of(moving_.begin(), moving_.end(), [](const Moving& m) { return m.look != nullptr; });
}

void Overlap::before(const ShapePlan& plan, uint64_t queue, bool is_event_query) {
  if (moving_.empty()) return;
  const Needs needs = needs_of(plan, is_event_query);
  const bool elsewhere =
      std::any_of(moving_.begin(), moving_.end(), [queue](const Moving& m) { return m.queue != queue; });
  if (needs == Needs::Everything || (needs == Needs::Queue && elsewhere)) return wait();
  // The host may have looked at what was read, to say what comes next.
  const bool reads_on = plan.reads || is_query(plan) || plan.fn->attributes.releases != ObjectKind::Unknown;
  if (!reads_on && reads_under_way()) wait();
}

void Overlap::before_change(const HostPlace& place, size_t bytes) {
  const int64_t end = place.offset + static_cast<int64_t>(bytes);
  const bool touches = std::any_of(moving_.begin(), moving_.end(), [&](const Moving& m) {
    return m.place.cls == place.cls && m.place.slot == place.slot && m.place.offset < end &&
           place.offset < m.place.offset + static_cast<int64_t>(m.bytes);
  });
  if (touches) wait();
}

void Overlap::wait() {
  const auto wait_for = cl_.get<decltype(clWaitForEvents)>(FnId::clWaitForEvents);
  const auto release = cl_.get<decltype(clReleaseEvent)>(FnId::clReleaseEvent);
  for (const Moving& m : moving_) {
    const auto event = reinterpret_cast<cl_event>(m.event);
    wait_for(1, &event);
    release(event);
    if (m.look) m.look();
  }
  moving_.clear();
}

}  // namespace gt::tracer
