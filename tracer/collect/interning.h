// Interning: equal values get equal small numbers, in order of first appearance.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gt::tracer {

// Items live in `items` (a table of the trace), which must outlive this. Hash(item) -> size_t.
template <class T, class Hash>
class Interning {
 public:
  explicit Interning(std::vector<T>& items) : items_(&items) {}

  uint32_t operator()(const T& item) {
    return (*this)(item, [] {});
  }

  // `made` runs when the item is new.
  template <class F>
  uint32_t operator()(const T& item, F&& made) {
    auto [first, last] = numbers_.equal_range(Hash()(item));
    for (auto it = first; it != last; ++it) {
      if ((*items_)[it->second] == item) return it->second;
    }
    const auto number = static_cast<uint32_t>(items_->size());
    numbers_.emplace(Hash()(item), number);
    items_->push_back(item);
    made();
    return number;
  }

 private:
  std::vector<T>* items_;
  std::unordered_multimap<size_t, uint32_t> numbers_;
};

inline uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}

}  // namespace gt::tracer
