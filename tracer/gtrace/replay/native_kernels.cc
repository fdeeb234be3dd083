#include "tracer/gtrace/replay/native_kernels.h"

#include <string_view>

#include "traces/api/fn_id.h"

namespace gt::tracer {

namespace {

constexpr auto Marker = static_cast<uint16_t>(api::FnId::clEnqueueMarkerWithWaitList);

// The marker's parameter that is called so; ParamReturn and the like stay what they are. -1: it has none.
int param_of_marker(const api::FnInfo& native, uint16_t param) {
  if (param >= model::ParamReturn) return param == model::ParamAllocs ? -1 : param;
  if (param >= native.param_count) return -1;
  const api::FnInfo& marker = api::fn_info(Marker);
  for (uint16_t p = 0; p < marker.param_count; ++p)
    if (std::string_view(marker.params[p].name) == native.params[param].name) return p;
  return -1;
}

}  // namespace

MarkerInPlace::MarkerInPlace(const model::Shape& native, const ShapePlan& native_plan, const model::Trace& trace) {
  shape_.fn = Marker;
  shape_.site = native.site;
  shape_.thread = native.thread;
  for (size_t i = 0; i < native.args.size(); ++i) {
    model::Arg arg = native.args[i];
    const int param = param_of_marker(*native_plan.fn, arg.param);
    if (param < 0) continue;
    arg.param = static_cast<uint16_t>(param);
    shape_.args.push_back(arg);
    for (int v = 0; v < model::value_count(arg.form); ++v)
      value_at_.push_back(static_cast<uint16_t>(native_plan.value_at[i] + v));
  }
  plan_ = plan_shape(shape_, trace);
}

std::vector<int64_t> MarkerInPlace::values(std::span<const int64_t> of_native) const {
  std::vector<int64_t> out;
  for (const uint16_t at : value_at_) out.push_back(of_native[at]);
  return out;
}

}  // namespace gt::tracer
