#include "tracer/gtrace/replay/shape_plan.h"

#include "traces/model/fold/address_param.h"
#include "traces/model/fold/update_param.h"

namespace gt::tracer {

using api::Wire;
using model::Arg;
using model::ArgForm;
using model::ObjectKind;

namespace {

bool is_list(Wire wire) {
  switch (wire) {
    case Wire::Ints:
    case Wire::Handles:
    case Wire::Pointers:
    case Wire::Strings:
    case Wire::Properties:
    case Wire::Info:
    case Wire::Struct:
      return true;
    default:
      return false;
  }
}

bool is_memory_object(ObjectKind kind) {
  return kind == ObjectKind::Buffer || kind == ObjectKind::Image || kind == ObjectKind::Pipe;
}

// A handle of another kind than the parameter's is nothing that a driver can look at.
bool fits(const Arg& arg, const api::ParamInfo& param, const model::Trace& trace) {
  const bool handle = param.in == Wire::Handle || param.in == Wire::Handles;
  if (arg.form != ArgForm::Object || !handle || param.kind >= ObjectKind::OtherHandle) return true;
  const ObjectKind kind = trace.classes[arg.cls].kind;
  return kind == param.kind || (is_memory_object(kind) && is_memory_object(param.kind));
}

}  // namespace

ShapePlan plan_shape(const model::Shape& shape, const model::Trace& trace) {
  ShapePlan plan;
  plan.fn = &api::fn_info(shape.fn);
  uint16_t value = 0;
  for (const Arg& a : shape.args) {
    plan.value_at.push_back(value);
    value = static_cast<uint16_t>(value + model::value_count(a.form));
  }
  if (shape.fn >= api::FnCount || !plan.fn->params) return plan;
  size_t at = 0;
  while (at < shape.args.size() && shape.args[at].param == model::ParamAllocs) ++at;
  plan.callable = true;
  for (uint16_t p = 0; p < plan.fn->param_count; ++p) {
    plan.input_at.push_back(static_cast<uint16_t>(at));
    const Wire wire = plan.fn->params[p].in;
    plan.reads |= wire == Wire::HostData && plan.fn->params[p].out != Wire::None;
    if (wire == Wire::None) continue;
    const size_t begin = at;
    while (at < shape.args.size() && shape.args[at].param == p && (at == begin || is_list(wire))) {
      const Arg& a = shape.args[at];
      if (plan.kernel < 0 && a.form == ArgForm::Object && trace.classes[a.cls].kind == ObjectKind::Kernel)
        plan.kernel = static_cast<int>(at);
      plan.callable &= fits(a, plan.fn->params[p], trace);
      ++at;
    }
    plan.callable &= at > begin;
  }
  plan.input_at.push_back(static_cast<uint16_t>(at));
  const size_t outputs = at;
  for (; at < shape.args.size(); ++at) {
    const Arg& a = shape.args[at];
    if (a.param == model::ParamCallback && a.form == ArgForm::Object) plan.callback = static_cast<int>(at);
    if (a.param == model::ParamSharedContent && a.form == ArgForm::Memory)
      plan.shared.push_back(static_cast<uint16_t>(at));
    if (a.param == model::ParamAddress && a.form == ArgForm::Int) plan.address = plan.value_at[at];
    plan.chosen |= a.param == model::ParamBefore;
    const bool held = a.form == ArgForm::Object || a.form == ArgForm::Memory;
    if (held && a.param == model::ParamBefore) plan.before.push_back(static_cast<uint16_t>(at));
    if (held && a.param == model::ParamAfter) plan.after.push_back(static_cast<uint16_t>(at));
    if (a.param == model::ParamUpdate) plan.updates.push_back(static_cast<uint16_t>(at));
    if (a.param == model::ParamContent && a.form == ArgForm::Int) plan.content = plan.value_at[at];
    if (a.param != model::ParamReturn && a.param >= plan.fn->param_count) continue;
    plan.outputs.push_back(static_cast<uint16_t>(at));
    if (a.form == ArgForm::Int && api::is_error_code(shape.fn, a.param)) plan.status = plan.value_at[at];
  }
  // A place without its number is none.
  for (std::vector<uint16_t>* places : {&plan.shared, &plan.before, &plan.after}) {
    std::erase_if(*places, [&](uint16_t i) {
      return i < outputs || i + 1u >= shape.args.size() || shape.args[i + 1u].form != ArgForm::Int;
    });
  }
  return plan;
}

}  // namespace gt::tracer
