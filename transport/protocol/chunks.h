// How a transfer is cut into chunks: both ends cut it the same way, and say nothing about it.
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

#include "transport/protocol/messages.h"

namespace gt::wire {

class Chunks {
 public:
  // `element`: bytes of an image's element, else 1. Not valid(): the part is empty, larger than 2^63 bytes, or an
  // element is larger than a chunk.
  Chunks(const Part& part, uint64_t element, uint64_t largest) : part_(part), element_(element) {
    const bool range = part.shape == Part::Shape::Range;
    const uint64_t rows = range ? 1 : part.region[1], slices = range ? 1 : part.region[2];
    uint64_t all = 0;
    if (__builtin_mul_overflow(part.region[0], element, &row_) || __builtin_mul_overflow(row_, rows, &slice_) ||
        __builtin_mul_overflow(slice_, slices, &all) || all == 0 || all >> 63 || largest < element)
      return;
    rows_ = rows;
    slices_ = slices;
    bytes_ = all;
    width_ = std::min(part.region[0], largest / element);
    const bool whole_rows = width_ == part.region[0];
    height_ = whole_rows ? std::min(rows, largest / row_) : 1;
    depth_ = whole_rows && height_ == rows ? std::min(slices, largest / slice_) : 1;
  }

  bool valid() const { return bytes_ != 0; }
  uint64_t bytes() const { return bytes_; }          // of the whole transfer
  uint64_t row_bytes() const { return row_; }
  uint64_t count() const {
    return pieces(part_.region[0], width_) * pieces(rows_, height_) * pieces(slices_, depth_);
  }

  struct Chunk {
    Part part;
    uint64_t offset = 0, bytes = 0;  // in what is packed
  };
  // REQUIRES: valid(), i < count().
  Chunk at(uint64_t i) const {
    const uint64_t across = pieces(part_.region[0], width_), down = pieces(rows_, height_);
    const uint64_t x = i % across * width_, y = i / across % down * height_, z = i / across / down * depth_;
    const uint64_t width = std::min(width_, part_.region[0] - x), height = std::min(height_, rows_ - y),
                   depth = std::min(depth_, slices_ - z);
    Chunk chunk{part_, z * slice_ + y * row_ + x * element_, width * height * depth * element_};
    chunk.part.origin[0] += x;
    chunk.part.region[0] = width;
    if (part_.shape == Part::Shape::Range) return chunk;
    chunk.part.origin[1] += y;
    chunk.part.origin[2] += z;
    chunk.part.region[1] = height;
    chunk.part.region[2] = depth;
    return chunk;
  }

 private:
  static uint64_t pieces(uint64_t whole, uint64_t piece) { return (whole + piece - 1) / piece; }

  Part part_;
  uint64_t element_;
  uint64_t row_ = 0, slice_ = 0, bytes_ = 0;     // bytes of a row, of a slice, of all
  uint64_t rows_ = 0, slices_ = 0;
  uint64_t width_ = 1, height_ = 1, depth_ = 1;  // of a chunk: elements, rows, slices
};

}  // namespace gt::wire
