// A region of a memory object: what one transfer moves. Described here once, for who takes a program's arguments, for
// messages, and for who asks drivers.
//
//   Range   origin[0], region[0]: bytes of a buffer
//   Box     bytes, rows and slices of a buffer, whose rows begin `row_pitch` bytes after each other, its slices
//           `slice_pitch` (clEnqueueWriteBufferRect). Host memory has boxes, too
//   Image   elements, rows and slices, as clEnqueueWriteImage counts them
//   Svm     a range of shared virtual memory (clEnqueueSVMMemcpy), from its first byte; messages name the block and
//           say Range
//
// On their way the bytes of a region are packed: rows and slices without gaps.
//
// The numbers may be a stranger's: nothing is known of them until bounds() or packed_bytes() has looked.
// Thread safety: values. Cost: some ns; no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "traces/api/host_box.h"

namespace gt::copy {

enum class Way : uint8_t { ToDevice, ToHost };

struct Region {
  enum class Shape : uint8_t { Range, Box, Image, Svm };
  Shape shape = Shape::Range;
  std::array<uint64_t, 3> origin{}, region{};
  uint64_t row_pitch = 0, slice_pitch = 0;  // Box

  bool is_range() const noexcept { return shape == Shape::Range || shape == Shape::Svm; }
  // In messages (docs/WIRE_FORMAT.md).
  template <class V>
  void fields(V& v) { v(shape, origin, region, row_pitch, slice_pitch); }
};

inline Region range(uint64_t offset, uint64_t bytes) noexcept {
  return {.shape = Region::Shape::Range, .origin = {offset, 0, 0}, .region = {bytes, 1, 1}};
}
// Pitches that are 0 become those of a box without gaps.
inline void settle_pitches(Region& box) noexcept {
  if (box.row_pitch == 0) box.row_pitch = box.region[0];
  if (box.slice_pitch == 0) box.slice_pitch = box.row_pitch * box.region[1];  // bounds() looks for an overflow
}
// Of OpenCL's arguments, which are not NULL.
inline Region box(const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch) noexcept {
  Region box{Region::Shape::Box, {origin[0], origin[1], origin[2]}, {region[0], region[1], region[2]}, row_pitch,
             slice_pitch};
  settle_pitches(box);
  return box;
}
inline Region image(const size_t* origin, const size_t* region) noexcept {
  return {Region::Shape::Image, {origin[0], origin[1], origin[2]}, {region[0], region[1], region[2]}};
}
// As OpenCL takes them.
inline const size_t* sizes(const std::array<uint64_t, 3>& three) noexcept {
  static_assert(sizeof(size_t) == sizeof(uint64_t));
  return reinterpret_cast<const size_t*>(three.data());
}

// `element`: bytes of an image's element, else 1. 0: the region is empty, or larger than 2^63 bytes.
uint64_t packed_bytes(const Region& region, uint64_t element) noexcept;

// Where a range or box lies in the memory that its origin counts from. An empty box ends where it begins.
struct Bounds {
  uint64_t begin = 0, end = 0;  // end: behind the last byte
  bool known = false;  // both can be said with 64 bits
  bool sound = false;  // ... and no row or slice reaches into the next one
  bool even = false;   // slices begin where rows do: what the specification asks for, and not every driver

  bool within(uint64_t bytes) const noexcept { return sound && end <= bytes; }
};
// REQUIRES: not an image; a box has its pitches.
Bounds bounds(const Region& region) noexcept;
// A box of one range of bytes.
inline bool is_dense(const Region& box) noexcept {
  const auto& [width, rows, slices] = box.region;
  return (rows == 1 || box.row_pitch == width) && (slices == 1 || box.slice_pitch == width * rows);
}

// Do two regions of the same shape, size and pitches in one memory object have a byte in common? As the specification's
// appendix on clEnqueueCopyBufferRect says it. REQUIRES: neither is empty; ranges and boxes are sound, images inside.
bool meet(const Region& a, const Region& b) noexcept;

// How the rows of a region lie in host memory. `offset`: from the pointer that the program gave.
using Layout = api::HostBox;
// Of a box of host memory. Its bounds say whether its numbers can be trusted.
inline Layout layout(const Region& box, const Bounds& bounds) noexcept {
  return {bounds.begin, box.region[0], box.region[1], box.region[2], box.row_pitch, box.slice_pitch};
}
inline uint64_t packed_bytes(const Layout& l) noexcept { return l.width * l.height * l.depth; }

}  // namespace gt::copy
