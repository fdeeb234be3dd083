// Property lists: keys whose value is a handle, or a list of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "traces/api/roles.h"

namespace gt::api {

struct PropertyKey {
  uint64_t key;
  bool list;  // the value is a list that ends with `end`
  int64_t end;
  ObjectKind kind;  // the value is a handle of this kind; Unknown: it is a number
};
inline constexpr PropertyKey property_keys[] = {
#define GT_PROPERTY_HANDLE(name, key, kind) {key, false, 0, ObjectKind::kind},
#define GT_PROPERTY_LIST(name, key, end) {key, true, end, ObjectKind::Unknown},
#include "traces/api/gen/properties.inc"
#undef GT_PROPERTY_HANDLE
#undef GT_PROPERTY_LIST
};
constexpr const PropertyKey* find_property(uint64_t key) {
  for (const PropertyKey& p : property_keys)
    if (p.key == key) return &p;
  return nullptr;
}

// The words of a property list, without the final 0.
template <class T>
size_t property_words(const T* list) noexcept {
  size_t n = 0;
  while (list[n] != 0) {
    const PropertyKey* key = find_property(static_cast<uint64_t>(list[n]));
    ++n;
    if (key && key->list) {
      while (static_cast<int64_t>(list[n]) != key->end) ++n;
    }
    ++n;
  }
  return n;
}

}  // namespace gt::api
