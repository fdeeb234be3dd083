// Reading shapes with the API table beside them.
#include "analyzer/calls/call_plan.h"

#include <algorithm>
#include <string_view>

namespace gt::analyzer {
namespace {

using model::ArgForm;
using model::ObjectKind;

// Numbers of a transfer that say how it is carried out, not what is moved.
bool is_manner(const CallPlan& plan, uint16_t fn, uint16_t param) {
  return param == plan.fn->attributes.blocking ||
         std::string_view(api::param_name(fn, param)) == "num_events_in_wait_list";
}

bool is_event_query(const api::FnInfo& fn) {
  const bool of_event = fn.param_count > 0 && fn.params[0].kind == ObjectKind::Event;
  return of_event && std::any_of(fn.params, fn.params + fn.param_count,
                                 [](const api::ParamInfo& p) { return p.out == api::Wire::Info; });
}

// What goes into a queue can be asked for an event.
bool makes_event(const api::FnInfo& fn) {
  return std::any_of(fn.params, fn.params + fn.param_count, [](const api::ParamInfo& p) {
    return p.kind == ObjectKind::Event && p.effect == model::Effect::Def;
  });
}

void note_number(CallPlan& plan, uint16_t fn, uint16_t param, size_t at) {
  if (param == model::ParamContent) plan.content_at = at;
  if (param == model::ParamReturn) plan.result_at = at;
  if (param >= plan.fn->param_count) return;
  if (param == plan.fn->attributes.blocking) plan.blocking_at = at;
  if (plan.fn->attributes.transfer == api::Transfer::None || is_manner(plan, fn, param)) return;
  if (param == plan.fn->attributes.size) plan.size_at = at;
  if (std::string_view(api::param_name(fn, param)) == "offset") plan.offset_at = at;
  plan.part_at.push_back(at);
}

void note_object(CallPlan& plan, const model::Trace& trace, const model::Arg& a, model::Effect effect, size_t at) {
  if (a.cls >= trace.classes.size()) return;
  const ObjectKind kind = trace.classes[a.cls].kind;
  if (kind == ObjectKind::Queue && plan.queue == NoValue) plan.queue = plan.touches.size();
  plan.calls_back |= kind == ObjectKind::Callback && effect == model::Effect::Def;
  plan.touches.push_back({a.cls, kind, a.param, at, effect, a.form == ArgForm::Memory});
}

CallPlan plan_of(const model::Trace& trace, model::ShapeId id, const std::vector<model::Effect>& effects) {
  const model::Shape& shape = trace.shapes[id];
  CallPlan plan;
  plan.shape = id;
  plan.fn = &api::fn_info(shape.fn);
  plan.moves = shape.moves;
  plan.waits = plan.fn->attributes.waits;
  plan.asks_events = is_event_query(*plan.fn);
  size_t at = 0;
  for (size_t i = 0; i < shape.args.size(); ++i) {
    const model::Arg& a = shape.args[i];
    if (a.form == ArgForm::Int) note_number(plan, shape.fn, a.param, at);
    if (a.form == ArgForm::Object || a.form == ArgForm::Memory) note_object(plan, trace, a, effects[i], at);
    at += static_cast<size_t>(model::value_count(a.form));
  }
  plan.matters.assign(at, false);
  for (const Touch& t : plan.touches) {
    const bool followed = t.data() || t.kind == ObjectKind::Queue || is_host_memory(t.kind);
    plan.matters[t.slot_at] = followed;
    if (t.pointer) plan.matters[t.slot_at + 1] = followed && plan.content_at != NoValue;
  }
  for (const size_t i : {plan.blocking_at, plan.size_at, plan.offset_at, plan.content_at, plan.result_at})
    if (i != NoValue) plan.matters[i] = true;
  for (const size_t i : plan.part_at) plan.matters[i] = true;
  plan.command = plan.queue != NoValue && makes_event(*plan.fn);
  return plan;
}

// The call touches memory under another name, too: a sub-buffer's parent, host memory that a buffer uses in place.
bool implies_memory(const CallPlan& plan) {
  return std::any_of(plan.touches.begin(), plan.touches.end(),
                     [](const Touch& t) { return t.implied() && (t.data() || is_host_memory(t.kind)); });
}

// False for a call that makes a memory object which is a part of another one, or comes from elsewhere (another
// programming interface, a property list).
bool makes_plainly(const CallPlan& plan, const model::Shape& shape) {
  const auto data = [&](bool made) {
    return std::any_of(plan.touches.begin(), plan.touches.end(),
                       [&](const Touch& t) { return t.data() && t.made() == made; });
  };
  if (!data(true)) return true;
  const bool list = std::any_of(shape.args.begin(), shape.args.end(), [&](const model::Arg& a) {
    return a.form == ArgForm::Int && api::param_info(shape.fn, a.param).in == api::Wire::Properties;
  });
  return plan.creates_memory() && !data(false) && !list;
}

}  // namespace

bool is_host_memory(ObjectKind kind) {
  return kind == ObjectKind::Segment || kind == ObjectKind::Svm || kind == ObjectKind::Mapping ||
         kind == ObjectKind::Static || kind == ObjectKind::Stack || kind == ObjectKind::File ||
         kind == ObjectKind::String || kind == ObjectKind::Unknown;
}

bool CallPlan::blocks(std::span<const int64_t> values) const {
  return blocking_at != NoValue && values[blocking_at] != 0;
}

bool CallPlan::failed(std::span<const int64_t> values) const {
  return result_at != NoValue && fn->result.error_code && values[result_at] != 0;
}

const Touch* CallPlan::target() const {
  const auto t = std::find_if(touches.begin(), touches.end(), [](const Touch& x) {
    return x.data() && (x.param < model::ParamKernelArg || x.param == model::ParamReturn);
  });
  return t == touches.end() ? nullptr : &*t;
}

const Touch* CallPlan::host() const {
  const auto t = std::find_if(touches.begin(), touches.end(), [](const Touch& x) {
    return x.pointer && is_host_memory(x.kind) && x.param < model::ParamKernelArg;
  });
  return t == touches.end() ? nullptr : &*t;
}

CallPlans::CallPlans(const model::Trace& trace, const Effects& effects) {
  plans_.reserve(trace.shapes.size());
  for (model::ShapeId i = 0; i < trace.shapes.size(); ++i) plans_.push_back(plan_of(trace, i, effects[i]));
  mark_followed(trace);
}

void CallPlans::mark_followed(const model::Trace& trace) {
  std::vector<model::ThreadId> thread(trace.classes.size(), model::NoIndex);
  followed_.assign(trace.classes.size(), true);
  for (model::ClassId c = 0; c < trace.classes.size(); ++c) {
    const ObjectKind kind = trace.classes[c].kind;
    if (kind == ObjectKind::Svm || kind == ObjectKind::Pipe) followed_[c] = false;
  }
  std::vector<bool> made(trace.classes.size(), false);
  for (const CallPlan& plan : plans_) {
    const model::Shape& shape = trace.shapes[plan.shape];
    const bool shares = implies_memory(plan) || !makes_plainly(plan, shape);
    for (const Touch& t : plan.touches) {
      if (thread[t.cls] == model::NoIndex) thread[t.cls] = shape.thread;
      if (thread[t.cls] != shape.thread || (t.data() && shares)) followed_[t.cls] = false;
      if (t.made()) made[t.cls] = true;
    }
  }
  for (model::ClassId c = 0; c < trace.classes.size(); ++c) {
    const ObjectKind kind = trace.classes[c].kind;
    if ((kind == ObjectKind::Buffer || kind == ObjectKind::Image) && !made[c]) followed_[c] = false;
  }
}

}  // namespace gt::analyzer
