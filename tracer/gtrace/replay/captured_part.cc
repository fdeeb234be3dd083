#include "tracer/gtrace/replay/captured_part.h"

#include <fmt/format.h>

#include <cstdlib>

namespace gt::tracer {

CapturedPart::CapturedPart(const model::Trace& trace) : text_(trace.fact("capture.part")) {
  constexpr std::string_view Kernel = "kernel ";
  const size_t mark = text_.rfind('#');
  if (!text_.starts_with(Kernel) || mark == std::string::npos) return;
  launch_ = LaunchChoice{text_.substr(Kernel.size(), mark - Kernel.size()),
                         std::strtoull(text_.c_str() + mark + 1, nullptr, 10)};
}

bool CapturedPart::leaves_out(const ShapePlan& plan) const {
  if (!any() || plan.chosen) return false;
  const api::Attributes& a = plan.fn->attributes;
  if (a.records || plan.fn->param_count == 0) return false;
  if (a.replays >= 0) return true;
  if (plan.fn->params[0].kind != model::ObjectKind::Queue) return false;
  const bool maps = a.direction == api::DirectionRule::Map || a.direction == api::DirectionRule::Unmap;
  return a.launch || (a.transfer != api::Transfer::None && !maps);
}

Status CapturedPart::came(const model::Trace& trace) const {
  for (const model::Shape& shape : trace.shapes) {
    for (const model::Arg& a : shape.args) {
      if (!any() || a.param == model::ParamBefore) return {};
    }
  }
  if (!any()) return {};
  return {Kind::Invalid, fmt::format("nothing was captured: {} never came, so there is nothing to replay", text_)};
}

std::string CapturedPart::not_reached(const LaunchChoice& choice, std::string fallback) const {
  if (!any()) return fallback;
  return fmt::format("--kernel {}#{}: the recording has the data of {} only", choice.kernel, choice.nth, text_);
}

Status CapturedPart::has(const LaunchChoice& choice) const {
  if (!launch_ || (launch_->kernel == choice.kernel && launch_->nth == choice.nth)) return {};
  return {Kind::Invalid, not_reached(choice, "")};
}

}  // namespace gt::tracer
