// A table of fixed size, by address, that any thread may use: no lock, no allocation.
//
// An entry is found near the place that its key hashes to. What finds no free place there is not added, and
// overflowed() says so from then on. A key is put in and taken out by whoever makes and ends the object that has it, so
// no two threads do it for one key at once.
// Cost: some tens of comparisons, eight to a cache line where the entries are small.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gt::tracer {

// T: `std::atomic<uintptr_t> key` (0: free, 1: being filled in), and begin() that sets the rest back.
template <class T, size_t Places, size_t Near = 32>
class FixedTable {
 public:
  T* find(const void* p) {
    const auto key = reinterpret_cast<uintptr_t>(p);
    if (key <= Busy) return nullptr;
    for (size_t i = 0; i < Near; ++i) {
      T& place = at(key, i);
      if (place.key.load(std::memory_order_acquire) == key) return &place;
    }
    return nullptr;
  }

  // A new one: what was there under this key is forgotten. nullptr: there is no room.
  T* add(const void* p) {
    const auto key = reinterpret_cast<uintptr_t>(p);
    if (key <= Busy) return nullptr;
    if (T* const old = find(p)) {
      old->begin();
      return old;
    }
    for (size_t i = 0; i < Near; ++i) {
      T& place = at(key, i);
      uintptr_t free = 0;
      if (!place.key.compare_exchange_strong(free, Busy, std::memory_order_acquire)) continue;
      place.begin();
      place.key.store(key, std::memory_order_release);
      return &place;
    }
    overflowed_.store(true, std::memory_order_relaxed);
    return nullptr;
  }

  void remove(const void* p) {
    if (T* const place = find(p)) place->key.store(0, std::memory_order_release);
  }
  bool overflowed() const { return overflowed_.load(std::memory_order_relaxed); }

  template <class Visit>
  void for_each(Visit visit) {
    for (T& place : places_) {
      if (place.key.load(std::memory_order_acquire) > Busy) visit(place);
    }
  }

 private:
  static constexpr uintptr_t Busy = 1;
  T& at(uintptr_t key, size_t i) { return places_[((key * 0x9e3779b97f4a7c15u >> 32) + i) % Places]; }

  T places_[Places];
  std::atomic<bool> overflowed_{false};
};

}  // namespace gt::tracer
