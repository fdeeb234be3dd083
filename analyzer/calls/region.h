// The part of a memory object that a call touches.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace gt::analyzer {

// Bytes [low, high); or, with a key, a shape in it (a rectangle, a part of an image): the same key is the same part, of
// any two others it is not known whether they overlap.
struct Region {
  uint64_t low = 0, high = std::numeric_limits<uint64_t>::max();
  std::vector<int64_t> key;

  bool operator==(const Region&) const = default;
  bool covers(const Region& o) const {
    if (!key.empty() || !o.key.empty()) return key == o.key;
    return low <= o.low && o.high <= high;
  }
  bool overlaps(const Region& o) const {
    if (!key.empty() || !o.key.empty()) return true;
    return low < o.high && o.low < high;
  }
};

}  // namespace gt::analyzer
