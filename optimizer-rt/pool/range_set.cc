#include "optimizer-rt/pool/range_set.h"

#include <algorithm>
#include <cstring>

#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {

size_t RangeSet::first_behind(size_t at) const noexcept {
  const auto* const found =
      std::partition_point(ranges_, ranges_ + count_, [at](const Range& r) { return r.end <= at; });
  return static_cast<size_t>(found - ranges_);
}

// For one more, or two in place of one.
bool RangeSet::make_room() noexcept {
  if (!ranges_) {
    void* const p = system_memory.map(Most * sizeof(Range), PROT_READ | PROT_WRITE);
    if (p == MAP_FAILED) return false;
    ranges_ = static_cast<Range*>(p);
  }
  return count_ < Most;
}

// Those in [first, last).
void RangeSet::replace(size_t first, size_t last, const Range* by, size_t count) noexcept {
  std::memmove(ranges_ + first + count, ranges_ + last, (count_ - last) * sizeof(Range));
  std::copy_n(by, count, ranges_ + first);
  count_ += count;
  count_ -= last - first;
}

bool RangeSet::add(size_t begin, size_t end) noexcept {
  if (begin >= end) return true;
  if (!make_room()) return false;
  size_t first = first_behind(begin);
  if (first > 0 && ranges_[first - 1].end == begin) --first;
  size_t last = first;
  Range whole{begin, end};
  for (; last < count_ && ranges_[last].begin <= end; ++last) {
    whole.begin = std::min(whole.begin, ranges_[last].begin);
    whole.end = std::max(whole.end, ranges_[last].end);
  }
  replace(first, last, &whole, 1);
  return true;
}

bool RangeSet::remove(size_t begin, size_t end) noexcept {
  if (begin >= end || count_ == 0) return true;
  const size_t first = first_behind(begin);
  size_t last = first, count = 0;
  Range kept[2];
  for (; last < count_ && ranges_[last].begin < end; ++last) {
    if (ranges_[last].begin < begin) kept[count++] = {ranges_[last].begin, begin};
    if (ranges_[last].end > end) kept[count++] = {end, ranges_[last].end};
  }
  if (count > last - first && !make_room()) return false;
  replace(first, last, kept, count);
  return true;
}

}  // namespace gt::opt
