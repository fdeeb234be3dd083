// From what the user wrote to tests of calls and nodes.
#include "tracer/gtrace/base/selection.h"

#include <algorithm>
#include <charconv>

#include "traces/store/function_facts.h"

namespace gt::tracer {

using model::ArgForm;

Result<std::optional<model::ThreadId>> find_thread(const model::Trace& trace, std::optional<uint64_t> number) {
  std::optional<model::ThreadId> thread;
  if (!number) return thread;
  if (*number >= trace.threads.size()) {
    return Status(Kind::Invalid, "the trace has no thread " + std::to_string(*number));
  }
  thread = static_cast<model::ThreadId>(*number);
  return thread;
}

Selector::Selector(const model::Trace& trace, const model::ObjectNames& names, const Selection& selection)
    : trace_(&trace), names_(&names), selection_(&selection) {
  for (const model::Shape& s : trace.shapes) by_name_.push_back(selection.calls.has_name(store::function_name(s.fn)));
  everything_ = selection.calls.everything() && selection.object.empty();
}

Result<Selector> Selector::make(const model::Trace& trace, const model::ObjectNames& names,
                                const Selection& selection) {
  Selector s(trace, names, selection);
  if (selection.object.empty()) return s;
  s.object_ = find_object(names, selection.object);
  if (!s.object_) return Status(Kind::Invalid, "the trace has no object " + selection.object);
  return s;
}

// "k0" stands for "k0:vadd"; "b2[7]" is slot 7 of the family b2.
std::optional<Selector::Object> Selector::find_object(const model::ObjectNames& names, const std::string& text) {
  const size_t bracket = text.find('[');
  const std::string_view name = std::string_view(text).substr(0, bracket);
  for (const auto& v : names.variables()) {
    const std::string_view known = v.name;
    if (known != name && known.substr(0, known.find(':')) != name) continue;
    Object found{v.cls, {}};
    if (!v.family) found.slot = v.slot;
    if (v.family && bracket != text.npos) {
      int64_t slot = 0;
      std::from_chars(text.data() + bracket + 1, text.data() + text.size(), slot);
      found.slot = slot;
    }
    return found;
  }
  return {};
}

bool Selector::stream(const model::Stream& stream) const {
  return (selection_->memory || !stream.memory) && (!selection_->thread || *selection_->thread == stream.thread);
}

bool Selector::names_object(model::ShapeId shape, std::span<const int64_t> values) const {
  size_t v = 0;
  for (const model::Arg& a : trace_->shapes[shape].args) {
    const bool object = a.form == ArgForm::Object || a.form == ArgForm::Memory;
    if (object && a.cls == object_->cls && (!object_->slot || values[v] == *object_->slot)) return true;
    v += static_cast<size_t>(value_count(a.form));
  }
  return false;
}

bool Selector::node(const model::Node& node, bool memory, uint64_t first, uint64_t last) const {
  if (everything_) return true;
  if (!selection_->calls.meets(memory, first, last) && !any_named(node)) return false;
  return !object_ || may_name_object(node);
}

bool Selector::any_named(const model::Node& node) const {
  if (!selection_->calls.names_anything()) return false;
  if (node.kind == model::Node::Kind::Call) return by_name_[node.shape];
  if (node.kind != model::Node::Kind::Loop) return true;  // a run: only its columns tell
  return std::any_of(node.body.begin(), node.body.end(), [&](const model::Node& n) { return any_named(n); });
}

bool Selector::may_name_object(const model::Node& node) const {
  if (node.kind == model::Node::Kind::Call) {
    const auto& args = trace_->shapes[node.shape].args;
    size_t v = 0;
    for (const model::Arg& a : args) {
      if (a.cls == object_->cls && value_count(a.form) > 0) {
        const model::Series& slot = node.values[v];
        if (!object_->slot || slot.kind != model::Series::Kind::Const || slot.value == *object_->slot) return true;
      }
      v += static_cast<size_t>(value_count(a.form));
    }
    return false;
  }
  if (node.kind != model::Node::Kind::Loop) return true;
  return std::any_of(node.body.begin(), node.body.end(), [&](const model::Node& n) { return may_name_object(n); });
}

}  // namespace gt::tracer
