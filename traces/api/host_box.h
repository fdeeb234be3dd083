// Where the bytes of a transfer lie in the program's memory: a box of rows, often a single one.
//
//   clEnqueueWriteBufferRect(host_origin = {8, 2, 0}, region = {16, 3, 1}, host_row_pitch = 64): three rows of
//   16 bytes, the first one 2 * 64 + 8 bytes behind the pointer, 64 bytes from one to the next
//
// Thread safety: values.
#pragma once

#include <cstddef>

#include "traces/api/image_bytes.h"

namespace gt::api {

struct HostBox {
  size_t offset = 0;  // of the first byte from the pointer given
  size_t width = 0;   // bytes of a row; 0: nothing, or not known
  size_t height = 1, depth = 1;
  size_t row_pitch = 0, slice_pitch = 0;  // bytes from row to row, from slice to slice; 0: densely packed

  size_t row_step() const { return row_pitch ? row_pitch : width; }
  size_t slice_step() const { return slice_pitch ? slice_pitch : row_step() * height; }
  bool dense() const { return row_step() == width && slice_step() == width * height; }
  // From the pointer to the last byte touched; 0 when it cannot be known.
  size_t extent() const {
    size_t end = 0;
    const size_t box = box_bytes(width, height, depth, row_pitch, slice_pitch);
    return box && !__builtin_add_overflow(offset, box, &end) ? end : 0;
  }
};

}  // namespace gt::api
