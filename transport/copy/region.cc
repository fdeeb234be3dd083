#include "transport/copy/region.h"

#include <algorithm>

#include "traces/base/checked_sum.h"

namespace gt::copy {
namespace {

Bounds range_bounds(const Region& r) {
  const CheckedSum end = CheckedSum().add(r.origin[0]).add(r.region[0]);
  return {r.origin[0], end.value(), end.ok(), end.ok(), true};
}

}  // namespace

uint64_t packed_bytes(const Region& r, uint64_t element) noexcept {
  const bool range = r.is_range();
  uint64_t bytes = 0;
  const bool fits = !__builtin_mul_overflow(r.region[0], element, &bytes) &&
                    !__builtin_mul_overflow(bytes, range ? 1 : r.region[1], &bytes) &&
                    !__builtin_mul_overflow(bytes, range ? 1 : r.region[2], &bytes);
  return fits && bytes >> 63 == 0 ? bytes : 0;
}

Bounds bounds(const Region& r) noexcept {
  if (r.is_range()) return range_bounds(r);
  const auto& [width, rows, slices] = r.region;
  const CheckedSum slice = CheckedSum().add(r.row_pitch, rows);
  const CheckedSum begin = CheckedSum().add(r.origin[0]).add(r.origin[1], r.row_pitch).add(r.origin[2], r.slice_pitch);
  CheckedSum end = begin;
  if (width != 0 && rows != 0 && slices != 0) end.add(slices - 1, r.slice_pitch).add(rows - 1, r.row_pitch).add(width);
  Bounds b{.begin = begin.value(), .end = end.value(), .known = end.ok()};
  b.sound = b.known && r.row_pitch >= width && slice.fits(r.slice_pitch);
  const bool packed = slice.value() == r.slice_pitch;  // mostly, and a division costs as much as all the rest
  b.even = packed || r.row_pitch == 0 || r.slice_pitch % r.row_pitch == 0;
  return b;
}

bool meet(const Region& a, const Region& b) noexcept {
  const size_t sides = a.is_range() ? 1 : 3;
  bool all = true;
  for (size_t i = 0; i < sides; ++i)
    all = all && a.origin[i] < b.origin[i] + b.region[i] && b.origin[i] < a.origin[i] + a.region[i];
  if (all || a.shape != Region::Shape::Box) return all;
  const Bounds first = bounds(a), second = bounds(b);
  if (first.begin >= second.end || second.begin >= first.end) return false;
  // A row or slice may reach around the end of its pitch into the next one.
  return std::max(a.origin[0], b.origin[0]) + a.region[0] > a.row_pitch ||
         std::max(a.origin[1], b.origin[1]) + a.region[1] > a.slice_pitch / a.row_pitch;
}

}  // namespace gt::copy
