// Ranges of numbers, sorted, that neither touch nor overlap. In memory of its own, which is mapped when the first one
// is added; holds at most Most of them. Thread safety: none. Zero-initialized: empty.
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)

namespace gt::opt {

class RangeSet {
 public:
  static constexpr size_t Most = 16384;

  constexpr RangeSet() = default;
  bool empty() const noexcept { return count_ == 0; }
  bool has_room() noexcept { return make_room(); }
  // False: no room, and nothing was changed.
  bool add(size_t begin, size_t end) noexcept;
  bool remove(size_t begin, size_t end) noexcept;
  void clear() noexcept { count_ = 0; }

  // Calls visit(begin, end) for each part of [begin, end) that is in the set, or for each that is not. `visit` must not
  // change the set.
  template <class Visit>
  void each_inside(size_t begin, size_t end, Visit visit) const {
    for (size_t i = first_behind(begin); i < count_ && ranges_[i].begin < end; ++i)
      visit(ranges_[i].begin < begin ? begin : ranges_[i].begin, ranges_[i].end < end ? ranges_[i].end : end);
  }
  template <class Visit>
  void each_outside(size_t begin, size_t end, Visit visit) const {
    size_t at = begin;
    each_inside(begin, end, [&](size_t from, size_t to) {
      if (at < from) visit(at, from);
      at = to;
    });
    if (at < end) visit(at, end);
  }

 private:
  struct Range {
    size_t begin, end;
  };
  size_t first_behind(size_t at) const noexcept;  // the first that ends behind it
  bool make_room() noexcept;
  void replace(size_t first, size_t last, const Range* by, size_t count) noexcept;

  Range* ranges_ = nullptr;
  size_t count_ = 0;
};

}  // namespace gt::opt

#pragma GCC visibility pop
