// Numbers objects in order of first appearance.
#include "traces/model/ssa/object_names.h"

#include <algorithm>
#include <set>

#include "traces/model/fold/fold.h"

namespace gt::model {
namespace {

constexpr size_t FewSlots =
    8;  // more in one argument or in one stretch of irregular calls: a family
constexpr size_t LabelLength = 32;
constexpr uint64_t LongColumn = 1 << 22;  // not searched for few values

// The distinct values of a series when they are few; nothing when they are many or follow a
// counter.
std::vector<int64_t> few_values(const Series& s) {
  if (s.kind == Series::Kind::Const) return {s.value};
  if (s.kind == Series::Kind::Affine) return {};
  std::vector<int64_t> few;
  const auto note = [&few](int64_t v) {
    if (std::find(few.begin(), few.end(), v) == few.end()) few.push_back(v);
    return few.size() <= FewSlots;
  };
  bool all = true;
  if (s.kind == Series::Kind::Column) {
    if (s.column().size > LongColumn || s.column().summarised()) return {};
    ColumnReader reader(s.column());
    int64_t v = 0;
    while (all && reader.next(v)) all = note(v);
  } else {
    all = std::all_of(s.values().begin(), s.values().end(), note);
  }
  return all ? few : std::vector<int64_t>{};
}

char counter_letter(size_t depth) {
  return static_cast<char>('i' + std::min<size_t>(depth - 1, 16));
}

}  // namespace

const Blob* find_blob(const Trace& trace, int64_t id) {
  return id >= 0 && static_cast<uint64_t>(id) < trace.blobs.size()
             ? &trace.blobs[static_cast<size_t>(id)]
             : nullptr;
}
const Site* find_site(const Trace& trace, int64_t id) {
  return id >= 0 && static_cast<uint64_t>(id) < trace.sites.size()
             ? &trace.sites[static_cast<size_t>(id)]
             : nullptr;
}

std::string series_text(const Series& s, size_t depth) {
  const std::string Varies = "…";
  if (s.kind == Series::Kind::Const) return std::to_string(s.value);
  if (s.kind == Series::Kind::Periodic && s.values().size() <= 4) {
    std::string text = "{";
    for (const int64_t v : s.values()) text += (text.size() > 1 ? "," : "") + std::to_string(v);
    return text + "}";
  }
  if (s.kind != Series::Kind::Affine || s.step().kind != Series::Kind::Const) return Varies;
  const int64_t step = s.step().value;
  const std::string base = series_text(s.base(), depth - 1);
  if (base == Varies || base[0] == '{') return Varies;
  if (step == 0) return base;
  std::string text = step == 1 ? "" : step == -1 ? "-" : std::to_string(step);
  text += counter_letter(depth);
  if (base == "0") return text;
  return text + (base[0] == '-' ? "" : "+") + base;
}

class ObjectNames::Builder {
 public:
  Builder(const Trace& trace, ObjectNames& names) : trace_(trace), names_(names) {
    names.classes_.resize(trace.classes.size());
    for (const Shape& s : trace.shapes) value_counts_.push_back(s.values());
    for (const bool memory : {false, true}) {
      for (const Stream& s : trace.streams) {
        if (s.memory == memory) walk(s.nodes);
      }
    }
    number();
  }

 private:
  void walk(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) {
      if (n.kind == Node::Kind::Loop) walk(n.body);
      if (n.kind == Node::Kind::Run) run(n);
      if (n.kind == Node::Kind::Summary) summary(n);
      if (n.kind == Node::Kind::Call) call(n);
    }
  }
  void call(const Node& n) {
    size_t v = 0;
    for (const Arg& a : trace_.shapes[n.shape].args) {
      if (a.form == ArgForm::Object || a.form == ArgForm::Memory) seen(a.cls, n.values[v]);
      v += static_cast<size_t>(value_count(a.form));
    }
  }
  void seen(ClassId cls, const Series& slot) {
    const std::vector<int64_t> few = few_values(slot);
    if (few.empty()) names_.classes_[cls].family = true;
    for (const int64_t s : few) first_seen(cls, s);
    if (few.empty()) first_seen(cls, 0);
  }
  void first_seen(ClassId cls, int64_t slot) {
    if (names_.classes_[cls].slots.emplace(slot, NoIndex).second) order_.emplace_back(cls, slot);
  }
  void run(const Node& n) {
    std::map<ClassId, std::set<int64_t>> slots;
    expand_run(n, value_counts_, [&](ShapeId shape, std::span<const int64_t> values) {
      size_t v = 0;
      for (const Arg& a : trace_.shapes[shape].args) {
        if (a.form == ArgForm::Object || a.form == ArgForm::Memory) in_run(a.cls, values[v], slots);
        v += static_cast<size_t>(value_count(a.form));
      }
      return true;
    });
  }
  // Which slots were used is not known any more: all of the class.
  void summary(const Node& n) {
    (void)expand_summary(n, trace_.shapes.size(), [&](ShapeId shape, uint64_t) {
      for (const Arg& a : trace_.shapes[shape].args) {
        if (a.form != ArgForm::Object && a.form != ArgForm::Memory) continue;
        names_.classes_[a.cls].family = true;
        first_seen(a.cls, 0);
      }
    });
  }
  void in_run(ClassId cls, int64_t slot, std::map<ClassId, std::set<int64_t>>& slots) {
    if (names_.classes_[cls].family) return;
    std::set<int64_t>& in_class = slots[cls];
    in_class.insert(slot);
    first_seen(cls, slot);
    if (in_class.size() > FewSlots) names_.classes_[cls].family = true;
  }

  void number() {
    std::map<std::string, uint32_t> next;
    for (const auto& [cls, slot] : order_) {
      ClassNames& c = names_.classes_[cls];
      if (c.family && c.slots.size() == 1 && c.slots.begin()->second != NoIndex) continue;
      const auto id = static_cast<VariableId>(names_.variables_.size());
      const std::string letter = object_kind_letter(trace_.classes[cls].kind);
      names_.variables_.push_back(
          {cls, slot, c.family, letter + std::to_string(next[letter]++) + label(cls)});
      if (c.family) {
        c.slots.clear();
        c.slots[0] = id;
      } else {
        c.slots[slot] = id;
      }
    }
  }
  std::string label(ClassId cls) const {
    const Class& c = trace_.classes[cls];
    const Blob* blob = c.label == NoIndex ? nullptr : &trace_.blobs[c.label];
    if (!blob || c.kind == ObjectKind::Program || blob->bytes.empty()) return {};
    std::string_view text = as_text(blob->bytes);
    text = text.substr(0, text.find('\0'));
    text = text.substr(text.rfind('/') + 1);
    std::string out = ":";
    for (const char ch : text.substr(0, LabelLength)) out += ch > ' ' && ch < 127 ? ch : '_';
    return out.size() > 1 ? out : std::string();
  }

  const Trace& trace_;
  ObjectNames& names_;
  std::vector<int> value_counts_;
  std::vector<std::pair<ClassId, int64_t>> order_;
};

ObjectNames::ObjectNames(const Trace& trace) { Builder builder(trace, *this); }

VariableId ObjectNames::variable(ClassId cls, int64_t slot) const {
  const ClassNames& c = classes_[cls];
  const auto it = c.slots.find(c.family ? 0 : slot);
  return it == c.slots.end() ? NoIndex : it->second;
}

std::vector<VariableId> ObjectNames::variables(ClassId cls, const Series& slot) const {
  std::vector<VariableId> out;
  if (classes_[cls].family) {
    if (const VariableId v = variable(cls, 0); v != NoIndex) out.push_back(v);
    return out;
  }
  for (const int64_t s : few_values(slot)) {
    if (const VariableId v = variable(cls, s); v != NoIndex) out.push_back(v);
  }
  return out;
}

void ObjectNames::append(std::string& out, ClassId cls, int64_t slot) const {
  const VariableId v = variable(cls, slot);
  out += v == NoIndex ? "?" : variables_[v].name;
  if (v != NoIndex && !variables_[v].family) return;
  out += '[';
  out += std::to_string(slot);
  out += ']';
}

std::string ObjectNames::text(ClassId cls, const Series& slot, size_t depth) const {
  std::string out;
  if (slot.kind == Series::Kind::Const) {
    append(out, cls, slot.value);
    return out;
  }
  for (const VariableId v : variables(cls, slot))
    out += (out.empty() ? "" : "|") + variables_[v].name;
  if (classes_[cls].family) out += "[" + series_text(slot, depth) + "]";
  return out;
}

}  // namespace gt::model
