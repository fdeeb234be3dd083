#include "tracer/gtrace/replay/plain_calls.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gt::tracer {

using model::Arg;
using model::ArgForm;
using model::ObjectKind;

namespace {

// Does an argument only say which object or number?
bool says_only(const Arg& arg, const model::Trace& trace) {
  switch (arg.form) {
    case ArgForm::Null:
    case ArgForm::Empty:
    case ArgForm::Int:
    case ArgForm::Blob:
      return true;
    case ArgForm::Object:
      return trace.classes[arg.cls].kind != ObjectKind::Event;
    default:
      return false;
  }
}

bool follows_nothing(const api::Attributes& a) {
  return a.creates == ObjectKind::Unknown && a.releases == ObjectKind::Unknown && a.retains == ObjectKind::Unknown &&
         a.options < 0 && a.replays < 0 && a.updates < 0 && !a.records && a.direction != api::DirectionRule::Map &&
         a.direction != api::DirectionRule::Unmap && a.direction != api::DirectionRule::Pointers;
}

bool is_plain_shape(const model::Shape& shape, const ShapePlan& plan, const model::Trace& trace) {
  if (plan.callable && plan.fn->param_count > 0 && plan.fn->params[0].kind == ObjectKind::CommandBuffer)
    return false;  // numbers in it may be sync points
  if (!plan.callable || plan.reads || plan.content >= 0 || plan.callback >= 0 || plan.address >= 0 || plan.chosen)
    return false;
  if (!plan.shared.empty() || !plan.before.empty() || !plan.after.empty()) return false;
  if (!follows_nothing(plan.fn->attributes)) return false;
  for (size_t i = plan.input_at.front(); i < plan.input_at.back(); ++i) {
    if (!says_only(shape.args[i], trace)) return false;
  }
  // Nothing but how it ended.
  return plan.status >= 0 && plan.outputs.size() == 1;
}

}  // namespace

bool PlainCalls::is_plain(model::ShapeId shape, const ShapePlan& plan) {
  if (shapes_.empty()) return false;
  Plain& known = shapes_[shape].plain;
  if (known == Plain::Unknown)
    known = is_plain_shape(trace_.shapes[shape], plan, trace_) ? Plain::Yes : Plain::No;
  return known == Plain::Yes;
}

void PlainCalls::keep(model::ShapeId shape, PlainCall call) {
  std::unique_ptr<Kept>& kept = shapes_[shape].kept;
  if (!kept) kept = std::make_unique<Kept>();
  if (kept->next - kept->next_when_found > MostInVain) {  // its calls differ in more than numbers
    shapes_[shape].plain = Plain::No;
    kept.reset();
    return;
  }
  std::unique_ptr<PlainCall>& row = kept->rows[kept->next++ % MostRows];
  row = std::make_unique<PlainCall>(std::move(call));
}

const PlainCall* PlainCalls::find(model::ShapeId shape, std::span<const int64_t> values, uint64_t changes) {
  if (shapes_.empty() || !shapes_[shape].kept) return nullptr;
  Kept& kept = *shapes_[shape].kept;
  for (const std::unique_ptr<PlainCall>& row : kept.rows) {
    if (!row || row->changes != changes || !take_values(*row, values)) continue;
    kept.next_when_found = kept.next;
    return row.get();
  }
  return nullptr;
}

// The numbers that may differ go into the call, if nothing else does.
bool PlainCalls::take_values(PlainCall& call, std::span<const int64_t> values) {
  if (values.size() != call.row.size()) return false;
  auto number = call.numbers.begin();  // in the order of the row
  for (size_t i = 0; i < values.size(); ++i) {
    const bool may_differ = number != call.numbers.end() && number->value == i;
    if (!may_differ && values[i] != call.row[i]) return false;
    if (may_differ) ++number;
  }
  for (const EncodedNumber& n : call.numbers) {
    if (values[n.value] == call.row[n.value]) continue;
    call.row[n.value] = values[n.value];
    std::memcpy(call.inputs.data() + n.at, &values[n.value], n.size);
  }
  return true;
}

}  // namespace gt::tracer
