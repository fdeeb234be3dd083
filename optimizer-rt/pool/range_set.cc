#include "optimizer-rt/pool/range_set.h"

#include <algorithm>
#include <cstring>

#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {

size_t RangeSet::first_behind(size_t at) const noexcept {
  const auto* const found =
      std::partition_point(x_ranges, x_ranges + x_count, [at](const Range& r) { return r.end <= at; });
  return static_cast<size_t>(found - x_ranges);
}

// For one more, or two in place of one.
bool RangeSet::make_room() noexcept {
  if (!x_ranges) {
    void* const p = system_memory.map(Most * sizeof(Range), PROT_READ | PROT_WRITE);
    if (p == MAP_FAILED) return false;
    x_ranges = static_cast<Range*>(p);
  }
  return x_count < Most;
}

// Those in [first, last).
void RangeSet::replace(size_t first, size_t last, const Range* by, size_t count) noexcept {
  std::memmove(x_ranges + first + count, x_ranges + last, (x_count - last) * sizeof(Range));
  std::copy_n(by, count, x_ranges + first);
  x_count += count;
  x_count -= last - first;
}

bool RangeSet::add(size_t begin, size_t end) noexcept {
  if (begin >= end) return true;
  if (!make_room()) return false;
  size_t first = first_behind(begin);
  if (first > 0 && x_ranges[first - 1].end == begin) --first;
  size_t last = first;
  Range whole{begin, end};
  for (; last < x_count && x_ranges[last].begin <= end; ++last) {
    whole.begin = std::min(whole.begin, x_ranges[last].begin);
    whole.end = std::max(whole.end, x_ranges[last].end);
  }
  replace(first, last, &whole, 1);
  return true;
}

bool RangeSet::remove(size_t begin, size_t end) noexcept {
  if (begin >= end || x_count == 0) return true;
  const size_t first = first_behind(begin);
  size_t last = first, count = 0;
  Range kept[2];
  for (; last < x_count && x_ranges[last].begin < end; ++last) {
    if (x_ranges[last].begin < begin) kept[count++] = {x_ranges[last].begin, begin};
    if (x_ranges[last].end > end) kept[count++] = {end, x_ranges[last].end};
  }
  if (count > last - first && !make_room()) return false;
  replace(first, last, kept, count);
  return true;
}

}  // namespace gt::opt
