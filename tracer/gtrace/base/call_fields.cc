// Lists become one text each; long byte strings are cut.
#include "tracer/gtrace/base/call_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "tracer/gtrace/base/names.h"
#include "traces/api/api.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {

using model::Arg;
using model::ArgForm;
using model::ObjectKind;

namespace {

constexpr size_t LongText = 120;

std::string cut(std::string text) {
  if (text.size() <= LongText) return text;
  size_t end = LongText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
}

// An empty list marks the place of what a call returns through a parameter; the elements stand behind the inputs.
bool comes_again(const model::Shape& shape, size_t i) {
  return std::any_of(shape.args.begin() + static_cast<std::ptrdiff_t>(i) + 1, shape.args.end(),
                     [&](const Arg& later) { return later.param == shape.args[i].param; });
}

}  // namespace

CallFields::CallFields(const model::Trace& trace, const model::ObjectNames& names) : trace_(trace), names_(names) {}

const std::vector<CallField>& CallFields::fields(model::ShapeId id, std::span<const int64_t> values) {
  const model::Shape& shape = trace_.shapes[id];
  fields_.clear();
  size_t v = 0;
  for (size_t i = 0; i < shape.args.size(); ++i) {
    const Arg& a = shape.args[i];
    const auto mine = values.subspan(v);
    v += static_cast<size_t>(value_count(a.form));
    if (a.param == model::ParamAllocs || a.form == ArgForm::Null) continue;
    if (a.form == ArgForm::Empty && comes_again(shape, i)) continue;
    const bool again = i > 0 && shape.args[i - 1].param == a.param && !fields_.empty();
    const bool more = i + 1 < shape.args.size() && shape.args[i + 1].param == a.param;
    if (again) {
      CallField& list = fields_.back();
      list.text += ", " + text_of(shape, a, mine);
      continue;
    }
    CallField& field = fields_.emplace_back();
    field.name = param_name(shape.fn, a.param);
    field.text = text_of(shape, a, mine);
    field.is_number = !more && a.form == ArgForm::Int && is_number(field.text);
    if (field.is_number) field.number = mine[0];
  }
  return fields_;
}

std::string CallFields::text_of(const model::Shape& shape, const Arg& a, std::span<const int64_t> values) const {
  std::string out;
  switch (a.form) {
    case ArgForm::Null:
      return "NULL";
    case ArgForm::Empty:
      return "[]";
    case ArgForm::Int:
      append_number(out, shape.fn, a.param, values[0]);
      return out;
    case ArgForm::Object:
      names_.append(out, a.cls, values[0]);
      return out;
    case ArgForm::Memory:
      names_.append(out, a.cls, values[0]);
      return values[1] == 0 ? out : fmt::format("{}{:+d}", out, values[1]);
    case ArgForm::Blob: {
      const model::Blob* blob = model::find_blob(trace_, values[0]);
      return blob ? cut(quoted_blob(*blob)) : "?";
    }
    case ArgForm::Code:
      return model::find_site(trace_, values[0]) ? site_text(trace_, static_cast<model::SiteId>(values[0])) : "?";
    case ArgForm::Raw:
      return fmt::format("{:#x}", static_cast<uint64_t>(values[0]));
  }
  return out;
}

CommandFacts CallFields::command(model::ShapeId id, std::span<const int64_t> values) const {
  const model::Shape& shape = trace_.shapes[id];
  const api::Attributes& attributes = api::attributes(shape.fn);
  CommandFacts facts;
  facts.title = store::function_name(shape.fn);
  if (facts.title.starts_with("clEnqueue")) facts.title.erase(0, 9);
  size_t v = 0;
  for (const Arg& a : shape.args) {
    const bool object = a.form == ArgForm::Object || a.form == ArgForm::Memory;
    const ObjectKind kind = object ? trace_.classes[a.cls].kind : ObjectKind::Unknown;
    if (kind == ObjectKind::Queue && facts.queue.empty()) names_.append(facts.queue, a.cls, values[v]);
    if (kind == ObjectKind::Kernel && attributes.launch) {
      std::string name;
      names_.append(name, a.cls, values[v]);
      facts.title = name.substr(name.find(':') + 1);
    }
    if (a.form == ArgForm::Int && static_cast<int>(a.param) == attributes.size) {
      facts.bytes = static_cast<uint64_t>(values[v]);
    }
    if (a.form == ArgForm::Memory && facts.allocation.empty()) {
      names_.append(facts.allocation, a.cls, values[v]);
      const model::Class& c = trace_.classes[a.cls];
      facts.allocation += fmt::format(", {} @ {}", store::function_name(c.fn), site_text(trace_, c.site));
    }
    v += static_cast<size_t>(value_count(a.form));
  }
  return facts;
}

}  // namespace gt::tracer
