// How the bytes of a transfer lie in the program's memory, and how they get from there into packed rows and back.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <cstring>

#include "traces/api/host_box.h"

namespace gt::virt {

using HostLayout = api::HostBox;

inline size_t packed_bytes(const HostLayout& l) { return l.width * l.height * l.depth; }

template <class Copy>
void each_row(const HostLayout& l, Copy copy) {
  for (size_t z = 0; z < l.depth; ++z) {
    for (size_t y = 0; y < l.height; ++y) copy(l.offset + z * l.slice_step() + y * l.row_step());
  }
}
inline void pack(uint8_t* to, const void* host, const HostLayout& l) {
  each_row(l, [&](size_t at) {
    std::memcpy(to, static_cast<const uint8_t*>(host) + at, l.width);
    to += l.width;
  });
}
inline void unpack(void* host, const uint8_t* from, const HostLayout& l) {
  each_row(l, [&](size_t at) {
    std::memcpy(static_cast<uint8_t*>(host) + at, from, l.width);
    from += l.width;
  });
}

}  // namespace gt::virt
