#include "tracer/gtrace/replay/plain_calls.h"

#include <algorithm>
#include <unordered_map>
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

bool is_number(const PlainCall& call, size_t value) {
  return std::any_of(call.numbers.begin(), call.numbers.end(), [&](const auto& n) { return n.value == value; });
}

bool is_fixed_like(const PlainCall& call, std::span<const int64_t> values) {
  return values.size() == call.row.size() && std::all_of(call.fixed.begin(), call.fixed.end(), [&](uint16_t i) {
           return values[i] == call.row[i];
         });
}

bool varies_in_numbers(const model::Node& node, const PlainCall& call) {
  return std::all_of(call.fixed.begin(), call.fixed.end(), [&](uint16_t i) {
    return node.values[i].kind == model::Series::Kind::Const;
  });
}

}  // namespace

bool PlainCalls::is_plain(model::ShapeId shape, const ShapePlan& plan) {
  if (shapes_.empty()) return false;
  Plain& known = shapes_[shape].plain;
  if (known == Plain::Unknown)
    known = is_plain_shape(trace_.shapes[shape], plan, trace_) ? Plain::Yes : Plain::No;
  return known == Plain::Yes;
}

void PlainCalls::keep(PlainCall call) {
  const model::ShapeId shape = call.shape;
  std::unique_ptr<Kept>& kept = shapes_[shape].kept;
  if (!kept) kept = std::make_unique<Kept>();
  if (kept->next - kept->next_when_found > MostInVain) return give_up(shape);  // its calls differ in more than numbers
  for (size_t i = 0; i < call.row.size(); ++i) {
    if (!is_number(call, i)) call.fixed.push_back(static_cast<uint16_t>(i));
  }
  kept->rows[kept->next++ % MostRows] = std::make_unique<PlainCall>(std::move(call));
}

PlainCall* PlainCalls::find(model::ShapeId shape, std::span<const int64_t> values, uint64_t changes) {
  if (shapes_.empty() || !shapes_[shape].kept) return nullptr;
  Kept& kept = *shapes_[shape].kept;
  for (const std::unique_ptr<PlainCall>& row : kept.rows) {
    if (!row || row->changes != changes || !is_fixed_like(*row, values)) continue;
    for (const PlainCall::Number& n : row->numbers) take_number(*row, n, values[n.value]);
    kept.next_when_found = kept.next;
    return row.get();
  }
  return nullptr;
}

bool PlainCalls::find_all(const model::Rounds& rounds, uint64_t changes, std::vector<PlainStep>& steps) {
  steps.clear();
  for (size_t i = 0; i < rounds.size(); ++i) {
    const model::Node& node = rounds.node(i);
    PlainCall* const call = find(node.shape, rounds.row(i), changes);
    if (!call || !varies_in_numbers(node, *call)) return false;
    steps.push_back({call, call->call.get(), rounds.row(i).data(), call->answer, call->fn, call->waits,
                     rounds.varies(i), {}});
  }
  // Two calls of the loop may have their arguments in one place.
  std::unordered_map<const PlainCall*, size_t> users;
  for (const PlainStep& step : steps) ++users[step.kept];
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::vector<model::Series>& values = rounds.node(i).values;
    for (const PlainCall::Number& n : steps[i].kept->numbers)
      if (users[steps[i].kept] > 1 || values[n.value].kind != model::Series::Kind::Const) steps[i].moving.push_back(n);
  }
  return true;
}

}  // namespace gt::tracer
