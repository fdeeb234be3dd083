// From functions to plans: by attributes of the API table, and by name where the table does not tell.
#include "analyzer/remote/timed_call.h"

#include <algorithm>
#include <string_view>

#include "traces/api/api.h"

namespace gt::analyzer {
namespace {

using Kind = TimedCall::Kind;
using model::ObjectKind;

struct Exception {
  std::string_view prefix;  // of the function's name
  Kind kind;
};
// The first row that fits decides, before any rule.
constexpr Exception Exceptions[] = {
    {"clCreateCommandQueue", Kind::MakeQueue},
    {"clCreateContext", Kind::Reply},
    {"clCreateKernelsInProgram", Kind::Reply},
    {"clCreateSubDevices", Kind::Reply},
    {"clBuildProgram", Kind::Reply},
    {"clCompileProgram", Kind::Reply},
    {"clLinkProgram", Kind::Reply},
    {"clGetProgramInfo", Kind::Reply},
    {"clGetProgramBuildInfo", Kind::Reply},
    {"clGetDeviceAndHostTimer", Kind::Reply},
    {"clSetUserEventStatus", Kind::Post},
    {"clEnqueue", Kind::Command},
    {"clFlush", Kind::Post},
    {"clSVM", Kind::Post},
    {"clMemFree", Kind::Post},
    {"clGet", Kind::Local},
    {"clSet", Kind::Local},
    {"clRetain", Kind::Local},
    {"clUnload", Kind::Local},
};

Kind waiting_kind(const api::FnInfo& fn) {
  for (uint16_t p = 0; p < fn.param_count; ++p) {
    if (fn.params[p].kind == ObjectKind::Queue) return Kind::WaitQueue;
    if (fn.params[p].kind == ObjectKind::Event) return Kind::WaitEvents;
  }
  return Kind::WaitAll;
}

Kind kind_of(model::FnId id) {
  if (api::is_alloc_fn(id) || api::is_callback_fn(id)) return Kind::Local;
  const api::FnInfo& fn = api::fn_info(id);
  if (fn.attributes.waits) return waiting_kind(fn);
  const std::string_view name = fn.name;
  for (const Exception& e : Exceptions)
    if (name.starts_with(e.prefix)) return e.kind;
  const bool made_here = fn.attributes.creates != ObjectKind::Unknown || fn.attributes.records ||
                         fn.attributes.releases != ObjectKind::Unknown;
  return made_here ? Kind::Post : Kind::Reply;
}

TimedCall::Sync sync_of(std::string_view name) {
  if (name.starts_with("clEnqueueBarrier") || name.starts_with("clEnqueueWaitForEvents")) {
    return TimedCall::Sync::Barrier;
  }
  return name.starts_with("clEnqueueMarker") ? TimedCall::Sync::Marker : TimedCall::Sync::None;
}

double mean(const model::Stats& s) {
  return s.count == 0 ? 0 : static_cast<double>(s.sum) / static_cast<double>(s.count);
}

void add_costs(TimedCall& plan, const model::Shape& shape, const model::ShapeStats& stats) {
  plan.host_ns = mean(stats.host_ns);
  plan.device_ns = mean(stats.device_ns);
  const double bytes = mean(stats.bytes);
  if (shape.moves == model::Direction::HostToDevice) {
    plan.put_bytes = bytes;
    plan.engine = TimedCall::Engine::ToDevice;
  } else if (shape.moves == model::Direction::DeviceToHost) {
    plan.get_bytes = bytes;
    plan.engine = TimedCall::Engine::FromDevice;
  }
}

void add_object(TimedCall& plan, ObjectKind kind, const model::Arg& a, TimedCall::Ref ref) {
  if (kind == ObjectKind::Queue && a.effect != model::Effect::Def && !plan.queue.known()) plan.queue = ref;
  if (kind == ObjectKind::Queue && a.effect == model::Effect::Def) plan.queue = ref;
  if (kind == ObjectKind::Device && !plan.device.known()) plan.device = ref;
  if (kind != ObjectKind::Event) return;
  if (a.effect == model::Effect::Def) {
    plan.made_event = ref;
  } else if (a.effect == model::Effect::Use) {
    plan.waits.push_back(ref);
  }
}

void add_arguments(TimedCall& plan, const model::Trace& trace, const model::Shape& shape) {
  const api::Attributes& attributes = api::attributes(shape.fn);
  uint32_t value = 0;
  for (const model::Arg& a : shape.args) {
    const bool object = a.form == model::ArgForm::Object && a.cls < trace.classes.size();
    if (object) add_object(plan, trace.classes[a.cls].kind, a, {a.cls, value});
    const bool blocks = a.form == model::ArgForm::Int && a.param == attributes.blocking;
    if (blocks) plan.blocking = value;
    if (plan.kind == Kind::MakeQueue && a.param == 2 && a.form == model::ArgForm::Int) plan.properties.push_back(value);
    value += static_cast<uint32_t>(model::value_count(a.form));
  }
}

// Arguments of calls that neither order nor wait are of no interest.
void drop_arguments(TimedCall& plan) {
  const bool ordered = plan.kind == Kind::Command || plan.kind == Kind::MakeQueue || plan.kind == Kind::WaitQueue ||
                       plan.kind == Kind::WaitEvents;
  if (ordered) return;
  plan.queue = {};
  plan.waits.clear();
  plan.blocking = TimedCall::NoValue;
  if (plan.kind == Kind::Local) plan.made_event = {};
}

}  // namespace

std::vector<TimedCall> time_calls(const model::Trace& trace, const std::vector<double>& gaps, TimingDoubts& doubts) {
  std::vector<TimedCall> out(trace.shapes.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const model::Shape& shape = trace.shapes[i];
    TimedCall& plan = out[i];
    const std::string_view name = api::function_name(shape.fn);
    plan.kind = kind_of(shape.fn);
    plan.sync = sync_of(name);
    plan.property_list = name.starts_with("clCreateCommandQueueWithProperties");
    add_costs(plan, shape, trace.stats[i]);
    add_arguments(plan, trace, shape);
    drop_arguments(plan);
    if (i < gaps.size()) plan.gap_ns = gaps[i];
    if (name == "clCreateUserEvent") doubts.user_events = true;
    const bool works =
        plan.kind == Kind::Command && (api::attributes(shape.fn).launch || plan.engine != TimedCall::Engine::Kernel);
    if (!works) continue;
    const model::ShapeStats& s = trace.stats[i];
    const uint64_t done = s.calls - std::min(s.failed, s.calls);
    doubts.commands += done;
    doubts.untimed_commands += done - std::min(s.device_ns.count, done);
  }
  return out;
}

}  // namespace gt::analyzer
