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
  ObjectKind kind;  // the value is a handle of this kind, or an address (Unknown); of a list: each element is
};
inline constexpr PropertyKey property_keys[] = {
#define GT_PROPERTY_HANDLE(name, key, kind) {key, false, 0, ObjectKind::kind},
#define GT_PROPERTY_LIST(name, key, end, kind) {key, true, end, ObjectKind::kind},
#include "traces/api/gen/properties.inc"
#undef GT_PROPERTY_HANDLE
#undef GT_PROPERTY_LIST
};
constexpr const PropertyKey* find_property(uint64_t key) {
  for (const PropertyKey& p : property_keys)
    if (p.key == key) return &p;
  return nullptr;
}

// What the words of a property list are, one after the other.
class PropertyWalk {
 public:
  // Is `word` a handle or an address (of `kind()`)? Keys, numbers and end marks are not.
  bool is_object(uint64_t word) {
    if (state_ == State::Key) {
      key_ = find_property(word);
      state_ = key_ && key_->list ? State::List : State::Value;
      return false;
    }
    if (state_ == State::Value) {
      state_ = State::Key;
      return key_ != nullptr;
    }
    const bool ends = static_cast<int64_t>(word) == key_->end;
    if (ends) state_ = State::Key;
    return !ends && key_->kind != ObjectKind::Unknown;
  }
  ObjectKind kind() const { return key_ ? key_->kind : ObjectKind::Unknown; }
  // Is the next word a key, or the 0 that ends the list?
  bool at_key() const { return state_ == State::Key; }
  // Is no word left, although no 0 was seen at the place of a key? There is but one way to part a device, so the list
  // of counts ends all: drivers read nothing behind its end mark, and programs (SYCL's runtime) write nothing there.
  bool ended() const { return at_key() && key_ && key_->key == CountsKey; }

 private:
  static constexpr uint64_t CountsKey = 0x1087;  // CL_DEVICE_PARTITION_BY_COUNTS
  enum class State : uint8_t { Key, Value, List } state_ = State::Key;
  const PropertyKey* key_ = nullptr;
};

// The words of a property list, without the final 0; MaxPropertyWords when it does not end before (no list of any
// program is as long, so it is no list), or when `readable(address of a word)` says no.
constexpr size_t MaxPropertyWords = 4096;
template <class T, class Readable>
size_t property_words(const T* list, Readable readable) noexcept {
  PropertyWalk walk;
  for (size_t n = 0; n < MaxPropertyWords; ++n) {
    if (walk.ended()) return n;
    if (!readable(list + n)) break;
    if (walk.at_key() && list[n] == 0) return n;
    walk.is_object(static_cast<uint64_t>(list[n]));
  }
  return MaxPropertyWords;
}
template <class T>
size_t property_words(const T* list) noexcept {
  return property_words(list, [](const T*) { return true; });
}

}  // namespace gt::api
