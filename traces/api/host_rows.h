// The bytes of a transfer as the rows in which they lie.
// Thread safety: no state.
#pragma once

#include <cstddef>
#include <cstdint>

#include "traces/api/host_box.h"

namespace gt::api {

// Calls `row(p, bytes)` for each row that lies in one piece, until one gives false.
template <class Byte, class Visit>
bool each_row(Byte* p, const HostBox& box, Visit row) {
  Byte* at = p + box.offset;
  if (box.dense()) return row(at, box.width * box.height * box.depth);
  for (size_t z = 0; z < box.depth; ++z)
    for (size_t y = 0; y < box.height; ++y)
      if (!row(at + z * box.slice_step() + y * box.row_step(), box.width)) return false;
  return true;
}

}  // namespace gt::api
