// Rows of host memory into packed bytes and back.
// Thread safety: no state. REQUIRES, everywhere: the layout's extent() is readable, or writable.
#pragma once

#include <cstdint>
#include <cstring>

#include "transport/copy/region.h"

namespace gt::copy {

template <class Copy>
void each_row(const Layout& l, Copy copy) {
  for (size_t z = 0; z < l.depth; ++z) {
    for (size_t y = 0; y < l.height; ++y) copy(l.offset + z * l.slice_step() + y * l.row_step());
  }
}
inline void pack(uint8_t* to, const void* host, const Layout& l) {
  each_row(l, [&](size_t at) {
    std::memcpy(to, static_cast<const uint8_t*>(host) + at, l.width);
    to += l.width;
  });
}
inline void unpack(void* host, const uint8_t* from, const Layout& l) {
  each_row(l, [&](size_t at) {
    std::memcpy(static_cast<uint8_t*>(host) + at, from, l.width);
    from += l.width;
  });
}

}  // namespace gt::copy
