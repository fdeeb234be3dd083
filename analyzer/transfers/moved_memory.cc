// Reading the arguments of a shape.
#include "analyzer/transfers/moved_memory.h"

#include <algorithm>

#include "traces/api/api.h"

namespace gt::analyzer {
namespace {

using model::ObjectKind;

bool is_host_memory(ObjectKind kind) {
  return kind == ObjectKind::Segment || kind == ObjectKind::Svm || kind == ObjectKind::Mapping ||
         kind == ObjectKind::Static || kind == ObjectKind::Stack || kind == ObjectKind::File ||
         kind == ObjectKind::String || kind == ObjectKind::Unknown;
}
bool is_memory_object(ObjectKind kind) {
  return kind == ObjectKind::Buffer || kind == ObjectKind::Image || kind == ObjectKind::Pipe;
}
bool names_class(const model::Arg& a) {
  const bool form = a.form == model::ArgForm::Memory || a.form == model::ArgForm::Object;
  return form && a.effect != model::Effect::None;
}
// A map call returns its mapping. What is only implied is not where the data goes to or comes from.
bool is_named(const model::Arg& a) {
  return names_class(a) && (a.param < model::ParamKernelArg || a.param == model::ParamReturn);
}
api::DirectionRule direction_rule(model::FnId fn) { return api::attributes(fn).direction; }
bool maps_or_unmaps(model::FnId fn) {
  return direction_rule(fn) == api::DirectionRule::Map || direction_rule(fn) == api::DirectionRule::Unmap;
}

void add_once(std::vector<Moved>& list, const Moved& m) {
  const auto same = [&](const Moved& o) { return o.cls == m.cls && o.kind == m.kind; };
  if (std::none_of(list.begin(), list.end(), same)) list.push_back(m);
}

}  // namespace

MovedMemory::MovedMemory(const model::Trace& trace) : trace_(trace) {
  for (const model::Shape& shape : trace.shapes) {
    if (direction_rule(shape.fn) != api::DirectionRule::Map) continue;
    model::ClassId mapping = model::NoIndex, object = model::NoIndex;
    for (const model::Arg& a : shape.args) {
      if (!is_named(a)) continue;
      if (kind_of(a.cls) == ObjectKind::Mapping) mapping = a.cls;
      if (is_memory_object(kind_of(a.cls))) object = a.cls;
    }
    if (mapping != model::NoIndex && object != model::NoIndex) mapped_.emplace(mapping, object);
  }
}

std::vector<Moved> MovedMemory::of(const model::Shape& shape) const {
  if (shape.moves != model::Direction::HostToDevice && shape.moves != model::Direction::DeviceToHost) return {};
  const std::vector<Moved> named = named_by(shape);
  if (named.empty()) return behind_objects(shape, false);
  const bool own = maps_or_unmaps(shape.fn);
  std::vector<Moved> out;
  for (const Moved& m : named) {
    const auto buffer = mapped_.find(m.cls);
    if (m.kind != ObjectKind::Mapping) {
      add_once(out, m);
    } else if (own) {
      for (const Moved& behind : behind_objects(shape, true)) add_once(out, behind);
    } else {
      add_once(out, {buffer == mapped_.end() ? m.cls : buffer->second, ObjectKind::Mapping, m.arg});
    }
  }
  return out;
}

// SVM is the devices' side of a copy, unless OpenCL was asked for memory of the host.
std::vector<Moved> MovedMemory::named_by(const model::Shape& shape) const {
  std::vector<Moved> host, svm;
  for (uint32_t i = 0; i < shape.args.size(); ++i) {
    const model::Arg& a = shape.args[i];
    if (!is_named(a) || !is_host_memory(kind_of(a.cls))) continue;
    const bool device_side = kind_of(a.cls) == ObjectKind::Svm && !api::attributes(trace_.classes[a.cls].fn).on_host;
    (device_side ? svm : host).push_back({a.cls, kind_of(a.cls), i});
  }
  return host.empty() ? svm : host;
}

std::vector<Moved> MovedMemory::behind_objects(const model::Shape& shape, bool mapped) const {
  std::vector<Moved> memory, objects;
  for (uint32_t i = 0; i < shape.args.size(); ++i) {
    const model::Arg& a = shape.args[i];
    if (!names_class(a)) continue;
    const ObjectKind kind = kind_of(a.cls);
    if (a.param == model::ParamImplied && is_host_memory(kind) && kind != ObjectKind::Mapping)
      add_once(memory, {a.cls, kind, i});
    if (is_named(a) && is_memory_object(kind)) add_once(objects, {a.cls, mapped ? ObjectKind::Mapping : kind, i});
  }
  return memory.empty() ? objects : memory;
}

std::optional<model::ClassId> MovedMemory::used_in_place(const model::Shape& shape) const {
  if (direction_rule(shape.fn) != api::DirectionRule::Create || shape.moves != model::Direction::None) return {};
  std::optional<model::ClassId> memory;
  bool made = false;
  for (const model::Arg& a : shape.args) {
    if (!is_named(a)) continue;
    if (a.param == model::ParamReturn) made = is_memory_object(kind_of(a.cls));
    if (a.form == model::ArgForm::Memory && is_host_memory(kind_of(a.cls))) memory = a.cls;
  }
  return made ? memory : std::nullopt;
}

}  // namespace gt::analyzer
