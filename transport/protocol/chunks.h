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
  Chunks(const Part& part, uint64_t element, uint64_t largest) : x_part(part), x_element(element) {
    const bool range = part.shape == Part::Shape::Range;
    const uint64_t rows = range ? 1 : part.region[1], slices = range ? 1 : part.region[2];
    uint64_t all = 0;
    if (__builtin_mul_overflow(part.region[0], element, &x_row) || __builtin_mul_overflow(x_row, rows, &x_slice) ||
        __builtin_mul_overflow(x_slice, slices, &all) || all == 0 || all >> 63 || largest < element)
      return;
    x_rows = rows;
    x_slices = slices;
    x_bytes = all;
    x_width = std::min(part.region[0], largest / element);
    const bool whole_rows = x_width == part.region[0];
    x_height = whole_rows ? std::min(rows, largest / x_row) : 1;
    x_depth = whole_rows && x_height == rows ? std::min(slices, largest / x_slice) : 1;
  }

  bool valid() const { return x_bytes != 0; }
  uint64_t bytes() const { return x_bytes; }          // of the whole transfer
  uint64_t row_bytes() const { return x_row; }
  uint64_t count() const {
    return pieces(x_part.region[0], x_width) * pieces(x_rows, x_height) * pieces(x_slices, x_depth);
  }

  struct Chunk {
    Part part;
    uint64_t offset = 0, bytes = 0;  // in what is packed
  };
  // REQUIRES: valid(), i < count().
  Chunk at(uint64_t i) const {
    const uint64_t across = pieces(x_part.region[0], x_width), down = pieces(x_rows, x_height);
    const uint64_t x = i % across * x_width, y = i / across % down * x_height, z = i / across / down * x_depth;
    const uint64_t width = std::min(x_width, x_part.region[0] - x), height = std::min(x_height, x_rows - y),
                   depth = std::min(x_depth, x_slices - z);
    Chunk chunk{x_part, z * x_slice + y * x_row + x * x_element, width * height * depth * x_element};
    chunk.part.origin[0] += x;
    chunk.part.region[0] = width;
    if (x_part.shape == Part::Shape::Range) return chunk;
    chunk.part.origin[1] += y;
    chunk.part.origin[2] += z;
    chunk.part.region[1] = height;
    chunk.part.region[2] = depth;
    return chunk;
  }

 private:
  static uint64_t pieces(uint64_t whole, uint64_t piece) { return (whole + piece - 1) / piece; }

  Part x_part;
  uint64_t x_element;
  uint64_t x_row = 0, x_slice = 0, x_bytes = 0;     // bytes of a row, of a slice, of all
  uint64_t x_rows = 0, x_slices = 0;
  uint64_t x_width = 1, x_height = 1, x_depth = 1;  // of a chunk: elements, rows, slices
};

}  // namespace gt::wire
