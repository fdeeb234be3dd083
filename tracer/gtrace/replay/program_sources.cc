#include "tracer/gtrace/replay/program_sources.h"

#include <algorithm>
#include <regex>
#include <set>

#include "tracer/gtrace/base/walk.h"
#include "tracer/gtrace/replay/shape_plan.h"

namespace gt::tracer {

using model::ArgForm;
using model::ObjectKind;

namespace {

using Name = std::pair<model::ClassId, int64_t>;

// Of the first argument that names a program.
std::optional<Name> program_of(const model::Trace& trace, const model::Shape& shape, const ShapePlan& plan,
                               std::span<const int64_t> values) {
  for (size_t i = 0; i < shape.args.size(); ++i) {
    const model::Arg& a = shape.args[i];
    if (a.form == ArgForm::Object && trace.classes[a.cls].kind == ObjectKind::Program)
      return Name{a.cls, values[plan.value_at[i]]};
  }
  return std::nullopt;
}

// The texts of a parameter, one after the other; nothing: they were not recorded whole.
std::optional<std::string> texts_of(const model::Trace& trace, const model::Shape& shape, const ShapePlan& plan,
                                    std::span<const int64_t> values, int param) {
  std::string text;
  for (size_t i = plan.input_at[static_cast<size_t>(param)]; i < plan.input_at[static_cast<size_t>(param) + 1]; ++i) {
    if (shape.args[i].form != ArgForm::Blob) continue;
    const auto id = static_cast<size_t>(values[plan.value_at[i]]);
    if (id >= trace.blobs.size() || trace.blobs[id].full_size > trace.blobs[id].bytes.size()) return std::nullopt;
    text += as_text(trace.blobs[id].bytes);
    while (!text.empty() && text.back() == '\0') text.pop_back();
  }
  return text;
}

// Is there a kernel of this name in the text? Its attributes and types stand between.
bool defines(const std::string& text, const std::string& kernel) {
  const std::regex definition("\\bkernel\\b[^;{}]*\\b" + kernel + "\\s*\\(");
  const std::regex underscored("__kernel\\b[^;{}]*\\b" + kernel + "\\s*\\(");
  return std::regex_search(text, definition) || std::regex_search(text, underscored);
}

bool is_word(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

void ProgramSources::read() {
  read_ = true;
  std::map<Name, ProgramSource> programs;
  std::set<ProgramSource> all;
  for (const model::Stream& s : trace_.streams) {
    if (s.memory) continue;
    Walk walk;
    walk.wanted = [](const model::Node&, uint64_t, uint64_t) { return true; };
    walk.visit = [&](const WalkedEvent& e) {
      const model::Shape& shape = trace_.shapes[e.shape];
      const api::Attributes& a = api::attributes(shape.fn);
      const bool builds = a.options >= 0 && a.creates == ObjectKind::Unknown;
      if (a.source < 0 && !builds) return true;
      const ShapePlan plan = plan_shape(shape, trace_);
      const std::optional<Name> name = program_of(trace_, shape, plan, e.values);
      const std::optional<std::string> text =
          plan.callable ? texts_of(trace_, shape, plan, e.values, builds ? a.options : a.source) : std::nullopt;
      if (!name || !text) return true;
      if (!builds) {
        programs[*name] = {*text, ""};
      } else if (const auto known = programs.find(*name); known != programs.end()) {
        known->second.options = *text;
        all.insert(known->second);
      }
      return true;
    };
    if (!walk_stream(trace_, s, walk).ok()) return;
  }
  sources_.assign(all.begin(), all.end());
}

std::vector<std::string> ProgramSources::kernels_of(model::ClassId program) const {
  std::set<std::string> names;
  for (const model::Shape& shape : trace_.shapes) {
    const auto has = [&](const model::Arg& a) { return a.form == ArgForm::Object && a.cls == program; };
    if (api::attributes(shape.fn).creates != ObjectKind::Kernel ||
        std::none_of(shape.args.begin(), shape.args.end(), has))
      continue;
    for (const model::Arg& a : shape.args) {
      if (a.form != ArgForm::Object || trace_.classes[a.cls].kind != ObjectKind::Kernel) continue;
      const model::BlobId label = trace_.classes[a.cls].label;
      if (label < trace_.blobs.size()) names.emplace(as_text(trace_.blobs[label].bytes));
    }
  }
  return {names.begin(), names.end()};
}

std::optional<ProgramSource> ProgramSources::find(model::ClassId program) {
  const std::vector<std::string> kernels = kernels_of(program);
  if (kernels.empty() || !std::all_of(kernels.begin(), kernels.end(), is_word)) return std::nullopt;
  const MutexLock lock(mutex_);
  if (!read_) read();
  std::optional<ProgramSource> found;
  for (const ProgramSource& s : sources_) {
    const auto has = [&](const std::string& kernel) { return defines(s.text, kernel); };
    if (!std::all_of(kernels.begin(), kernels.end(), has)) continue;
    if (found) return std::nullopt;
    found = s;
  }
  return found;
}

void ProgramSources::note_made(uint64_t program, const std::string& options) {
  const MutexLock lock(mutex_);
  made_[program] = options;
}

std::optional<std::string> ProgramSources::options_of(uint64_t program) const {
  const MutexLock lock(mutex_);
  const auto it = made_.find(program);
  return it == made_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace gt::tracer
