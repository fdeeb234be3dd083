// Templates for calls.
#include "tracer/gtrace/base/call_text.h"

#include <charconv>

#include "tracer/gtrace/base/names.h"
#include "traces/model/fold/update_param.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {

using model::Arg;
using model::ArgForm;

// Builds the pieces of one shape: literal text gathers in `literal_` until a value ends it.
class CallText::TemplateBuilder {
 public:
  TemplateBuilder(const model::Trace& trace, const model::Shape& shape, CallFormat format)
      : trace_(trace), shape_(shape), json_(format == CallFormat::Json) {}

  Template build() {
    literal_ = json_ ? "\"call\":\"" + store::function_name(shape_.fn) + "\",\"args\":{"
                     : store::function_name(shape_.fn) + "(";
    args(&TemplateBuilder::is_parameter);
    literal_ += json_ ? "}" : ")";
    kernel_args();
    result();
    if (shape_.unfinished) literal_ += json_ ? ",\"unfinished\":true" : " unfinished";
    literal_ += json_ ? ",\"site\":\"" : "  @ ";
    const std::string site = site_text(trace_, shape_.site);
    json_ ? append_escaped(literal_, site) : void(literal_ += site);
    if (json_) literal_ += "\"";
    pieces_.push_back({std::move(literal_), ArgForm::Null, 0, 0, model::NoIndex});
    return std::move(pieces_);
  }

 private:
  static bool is_parameter(const Arg& a) {
    return a.param < model::ParamKernelArg || a.param == model::ParamCallback || a.param == model::ParamContent ||
           a.param == model::ParamSharedContent || a.param == model::ParamBefore || a.param == model::ParamAfter ||
           a.param == model::ParamUpdate;
  }
  static bool is_kernel_arg(const Arg& a) {
    return a.param >= model::ParamKernelArg && a.param < model::ParamReturn;
  }
  static bool is_result(const Arg& a) { return a.param == model::ParamReturn; }

  bool any(bool (*wanted)(const Arg&)) const {
    for (const Arg& a : shape_.args) {
      if (wanted(a)) return true;
    }
    return false;
  }

  // An element of an argument, and where its values stand in the event's row.
  struct Element {
    const Arg* arg;
    uint32_t value;
  };

  // The arguments that `wanted` picks, each with all its elements, in order of first appearance.
  // What a call returns through a parameter stands behind the inputs in a shape, where an empty
  // list marks its place: it takes that place.
  std::vector<std::vector<Element>> grouped(bool (*wanted)(const Arg&)) const {
    std::vector<std::vector<Element>> groups;
    std::map<uint16_t, size_t> group_of;
    uint32_t value = 0;
    for (const Arg& a : shape_.args) {
      if (wanted(a)) {
        const auto [it, fresh] = group_of.try_emplace(a.param, groups.size());
        if (fresh) groups.emplace_back();
        std::vector<Element>& group = groups[it->second];
        if (group.size() == 1 && group[0].arg->form == ArgForm::Empty) group.clear();
        group.push_back({&a, value});
      }
      value += static_cast<uint32_t>(value_count(a.form));
    }
    return groups;
  }

  // "name=value" or "name":value; elements of a list in brackets.
  void args(bool (*wanted)(const Arg&)) {
    bool first = true;
    for (const std::vector<Element>& group : grouped(wanted)) {
      if (!first) literal_ += json_ ? "," : ", ";
      first = false;
      const std::string name = param_name(shape_.fn, group[0].arg->param);
      literal_ += json_ ? "\"" + name + "\":" : name + "=";
      if (group.size() > 1) literal_ += '[';
      for (size_t i = 0; i < group.size(); ++i) {
        if (i > 0) literal_ += json_ ? "," : ", ";
        one(*group[i].arg, group[i].value);
      }
      if (group.size() > 1) literal_ += ']';
    }
  }

  void one(const Arg& a, uint32_t value) {
    if (a.form == ArgForm::Null || a.form == ArgForm::Empty) {
      literal_ += a.form == ArgForm::Empty ? "[]" : json_ ? "null" : "NULL";
      return;
    }
    const bool quotes = json_ && a.form != ArgForm::Int && a.form != ArgForm::Blob;
    if (quotes) literal_ += '"';
    pieces_.push_back({std::move(literal_), a.form, value, a.param, a.cls});
    literal_ = quotes ? "\"" : "";
  }

  void kernel_args() {
    if (!any(&is_kernel_arg)) return;
    literal_ += json_ ? ",\"kernel_args\":{" : " {";
    args(&is_kernel_arg);
    literal_ += "}";
  }

  void result() {
    uint32_t value = 0;
    for (const Arg& a : shape_.args) {
      if (is_result(a)) {
        literal_ += json_ ? ",\"return\":" : " = ";
        one(a, value);
        return;
      }
      value += static_cast<uint32_t>(value_count(a.form));
    }
  }

  const model::Trace& trace_;
  const model::Shape& shape_;
  bool json_;
  std::string literal_;
  Template pieces_;
};

CallText::CallText(const model::Trace& trace, const model::ObjectNames& names, CallFormat format)
    : trace_(trace), names_(names), format_(format), templates_(trace.shapes.size()),
      summarised_(!trace.fact("summarised.values").empty()) {}

void CallText::append(std::string& out, model::ShapeId shape, std::span<const int64_t> values) {
  Template& t = templates_[shape];
  if (t.empty()) t = TemplateBuilder(trace_, trace_.shapes[shape], format_).build();
  const model::FnId fn = trace_.shapes[shape].fn;
  for (const Piece& p : t) {
    out += p.literal;
    if (value_count(p.form) != 0) fill(out, fn, p, values);
  }
}

void CallText::fill(std::string& out, model::FnId fn, const Piece& p,
                    std::span<const int64_t> values) {
  const auto number = [&out](auto v, int base) {
    char text[24];
    out.append(text, std::to_chars(text, text + sizeof text, v, base).ptr);
  };
  const int64_t v = values[p.value];
  if (v == model::Unkept && summarised_) {
    const bool bare = p.form == ArgForm::Int || p.form == ArgForm::Blob;
    out += bare && format_ == CallFormat::Json ? "null" : "…";
    return;
  }
  switch (p.form) {
    case ArgForm::Int:
      format_ == CallFormat::Json ? number(v, 10) : append_number(out, fn, p.param, v);
      break;
    case ArgForm::Object:
      names_.append(out, p.cls, v);
      break;
    case ArgForm::Memory:
      names_.append(out, p.cls, v);
      if (values[p.value + 1] == model::Unkept && summarised_) {
        out += "+…";
        break;
      }
      if (values[p.value + 1] >= 0) out += '+';
      number(values[p.value + 1], 10);
      break;
    case ArgForm::Blob:
      out += blob(v);
      break;
    case ArgForm::Code:
      out += model::find_site(trace_, v) ? site_text(trace_, static_cast<model::SiteId>(v)) : "?";
      break;
    case ArgForm::Raw:
      out += "0x";
      number(static_cast<uint64_t>(v), 16);
      break;
    default:
      break;
  }
}

const std::string& CallText::blob(int64_t id) {
  const auto [it, fresh] = blobs_.try_emplace(id);
  if (fresh) {
    const model::Blob* b = model::find_blob(trace_, id);
    it->second = b ? quoted_blob(*b) : "\"?\"";
  }
  return it->second;
}

}  // namespace gt::tracer
