// Loading, storing, and losing sight.
#include "analyzer/kernels/memory.h"

#include <algorithm>
#include <iterator>

namespace gt::kernels {

bool Targets::add(Target t) {
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), t);
  if (at != sorted_.end() && *at == t) return false;
  sorted_.insert(at, t);
  return true;
}

bool Targets::add(const Targets& more) {
  if (std::includes(sorted_.begin(), sorted_.end(), more.begin(), more.end())) return false;
  std::vector<Target> sum;
  std::set_union(sorted_.begin(), sorted_.end(), more.begin(), more.end(), std::back_inserter(sum));
  sorted_ = std::move(sum);
  return true;
}

ObjectId Memory::add_variable() {
  objects_.emplace_back();
  return static_cast<ObjectId>(objects_.size() - 1);
}

void Memory::put(ObjectId object, FieldId field, Target value) {
  value.within = NoField;
  changed |= objects_[object].slots[field].add(value);
}

Targets Memory::all_of(const Object& object) const {
  Targets out;
  for (const auto& [field, held] : object.slots) out.add(held);
  return out;
}

Targets Memory::load(const Targets& places, bool record) const {
  Targets out;
  for (const Target& at : places) {
    if (!is_variable(at.object)) {
      out.add({Unknown, NoField, record ? AnyField : NoField});
      continue;
    }
    const Object& object = objects_[at.object];
    for (const auto& [field, held] : object.slots) {
      if (!record && !object.loose && field != at.field) continue;
      for (Target t : held) {
        if (record) t.within = object.loose || is_union(field) ? AnyField : field;
        out.add(t);
      }
    }
  }
  return out;
}

void Memory::store(const Targets& places, const Targets& value, bool record) {
  for (const Target& at : places) {
    if (!is_variable(at.object)) continue;
    for (const Target& t : value) {
      const bool any = record && t.within == AnyField;
      if (any && !objects_[at.object].loose) objects_[at.object].loose = changed = true;
      const bool by_member = record && !any && !is_union(at.field);
      put(at.object, by_member ? t.within : at.field, t);
    }
  }
}

void Memory::loosen(const Targets& at) {
  for (const Target& t : at) {
    if (!is_variable(t.object) || objects_[t.object].loose) continue;
    objects_[t.object].loose = changed = true;
  }
}

void Memory::expose(const Targets& at) {
  for (const Target& t : reachable(at)) {
    if (!is_variable(t.object) || objects_[t.object].exposed) continue;
    Object& object = objects_[t.object];
    object.loose = object.exposed = changed = true;
    put(t.object, NoField, {Unknown, NoField, NoField});
  }
}

Targets Memory::reachable(const Targets& at) const {
  Targets seen;
  std::vector<Target> next(at.begin(), at.end());
  std::vector<bool> visited(objects_.size());
  while (!next.empty()) {
    Target t = next.back();
    next.pop_back();
    t.field = t.within = NoField;
    if (visited[t.object]) continue;
    visited[t.object] = true;
    seen.add(t);
    if (!is_variable(t.object)) continue;
    const Targets held = all_of(objects_[t.object]);
    next.insert(next.end(), held.begin(), held.end());
  }
  return seen;
}

}  // namespace gt::kernels
