// A hash map from addresses (or handles) to small values: open addressing, linear probing, no
// tombstones.
//
// 0 is no key: it is never found. Made for the collector's hot path: one probe in the common case,
// no allocation besides doubling.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gt::tracer {

template <class V>
class AddressMap {
 public:
  AddressMap() : slots_(64) {}

  V* find(uint64_t key) {
    if (key == 0) return nullptr;
    for (size_t i = home(key);; i = next(i)) {
      if (slots_[i].key == key) return &slots_[i].value;
      if (slots_[i].key == 0) return nullptr;
    }
  }

  // REQUIRES: key != 0. The value of `key`, made if it was not there. Pointers into the map are
  // valid until the next insertion or erase.
  V& operator[](uint64_t key) {
    V* v = find(key);
    return v ? *v : insert(key);
  }
  // The same for a key that is not there.
  V& insert(uint64_t key) {
    if ((size_ + 1) * 3 > slots_.size() * 2) grow();
    size_t i = home(key);
    while (slots_[i].key != 0) i = next(i);
    slots_[i] = {key, V{}};
    ++size_;
    return slots_[i].value;
  }

  // Backward-shift deletion keeps every key reachable from its home without tombstones.
  bool erase(uint64_t key) {
    if (key == 0) return false;
    size_t i = home(key);
    for (; slots_[i].key != key; i = next(i)) {
      if (slots_[i].key == 0) return false;
    }
    for (size_t j = next(i); slots_[j].key != 0; j = next(j)) {
      const size_t h = home(slots_[j].key);
      const bool movable = i <= j ? (h <= i || h > j) : (h <= i && h > j);
      if (movable) {
        slots_[i] = slots_[j];
        i = j;
      }
    }
    slots_[i] = Slot{};
    --size_;
    return true;
  }

  void clear() {
    slots_.assign(64, Slot{});
    size_ = 0;
  }
  size_t size() const { return size_; }

  template <class F>
  void for_each(F&& f) {
    for (Slot& s : slots_) {
      if (s.key != 0) f(s.key, s.value);
    }
  }

 private:
  struct Slot {
    uint64_t key = 0;
    V value{};
  };
  size_t home(uint64_t key) const {
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15ull) >> 20) & (slots_.size() - 1);
  }
  size_t next(size_t i) const { return (i + 1) & (slots_.size() - 1); }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.key == 0) continue;
      size_t i = home(s.key);
      while (slots_[i].key != 0) i = next(i);
      slots_[i] = s;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  size_t size_ = 0;
};

}  // namespace gt::tracer
