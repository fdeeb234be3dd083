// How a region is cut into chunks: both ends of a link cut it the same way, and say nothing about it; staging and moves
// do, too.
//
// The bytes on the way are packed. A chunk is, in this order of preference: all of it; whole slices; whole rows of one
// slice; a run of bytes (Image: whole elements) of one row. As many as fit into the largest chunk.
//
//   Box of 3 slices of 5 rows of 100 bytes, chunks of 250:   rows 0-1, 2-3, 4 of slice 0; 0-1, ... of slice 1; ...
//   ... chunks of 1200:                                      slices 0-1, slice 2
//
// Thread safety: values.
#pragma once

#include <algorithm>

#include "transport/copy/region.h"

namespace gt::copy {

class Chunks {
 public:
  // `element`: bytes of an image's element, else 1. Not valid(): the region is empty, larger than 2^63 bytes, or an
  // element is larger than a chunk.
  Chunks(const Region& whole, uint64_t element, uint64_t largest) noexcept : whole_(whole), element_(element) {
    bytes_ = largest < element ? 0 : packed_bytes(whole, element);
    if (bytes_ == 0) return;
    rows_ = whole.is_range() ? 1 : whole.region[1];
    slices_ = whole.is_range() ? 1 : whole.region[2];
    row_ = whole.region[0] * element;
    slice_ = row_ * rows_;
    if (bytes_ <= largest) {  // small ones, mostly: no divisions
      width_ = whole.region[0];
      height_ = rows_;
      depth_ = slices_;
      across_ = down_ = deep_ = 1;
      return;
    }
    width_ = std::min(whole.region[0], largest / element);
    height_ = whole_rows() ? std::min(rows_, largest / row_) : 1;
    depth_ = whole_rows() && height_ == rows_ ? std::min(slices_, largest / slice_) : 1;
    across_ = pieces(whole.region[0], width_);
    down_ = pieces(rows_, height_);
    deep_ = pieces(slices_, depth_);
  }

  bool valid() const noexcept { return bytes_ != 0; }
  bool whole_rows() const noexcept { return width_ == whole_.region[0]; }
  uint64_t bytes() const noexcept { return bytes_; }  // of the whole region
  uint64_t count() const noexcept { return across_ * down_ * deep_; }

  struct Chunk {
    Region part;
    uint64_t offset = 0, bytes = 0;  // in what is packed
  };
  // REQUIRES: valid(), i < count().
  Chunk at(uint64_t i) const noexcept {
    if (count() == 1) return {whole_, 0, bytes_};
    const uint64_t x = i % across_ * width_, y = i / across_ % down_ * height_, z = i / across_ / down_ * depth_;
    const uint64_t width = std::min(width_, whole_.region[0] - x), height = std::min(height_, rows_ - y),
                   depth = std::min(depth_, slices_ - z);
    Chunk chunk{whole_, z * slice_ + y * row_ + x * element_, width * height * depth * element_};
    chunk.part.origin[0] += x;
    chunk.part.region[0] = width;
    if (whole_.is_range()) return chunk;
    chunk.part.origin[1] += y;
    chunk.part.origin[2] += z;
    chunk.part.region[1] = height;
    chunk.part.region[2] = depth;
    return chunk;
  }

 private:
  static uint64_t pieces(uint64_t whole, uint64_t piece) noexcept { return (whole + piece - 1) / piece; }

  Region whole_;
  uint64_t element_;
  uint64_t row_ = 0, slice_ = 0, bytes_ = 0;     // bytes of a row, of a slice, of all
  uint64_t rows_ = 0, slices_ = 0;
  uint64_t width_ = 0, height_ = 0, depth_ = 0;  // of a chunk: elements, rows, slices
  uint64_t across_ = 0, down_ = 0, deep_ = 0;    // chunks: in a row, in a slice, in all slices
};

}  // namespace gt::copy
