// Regions of memory objects as programs give them, checked.
// Thread safety: values.
#pragma once

#include <array>
#include <cstddef>

#include "optimizer-rt/client/memory/mem.h"
#include "transport/copy/region.h"

namespace gt::virt {

// A range that is not empty.
inline bool inside(size_t offset, size_t size, size_t whole) {
  return size != 0 && offset <= whole && size <= whole - offset;
}

// A range that lies inside, empty or not.
inline bool lies_inside(size_t offset, size_t size, size_t whole) { return offset <= whole && size <= whole - offset; }

inline bool is_empty(const size_t* region) { return region[0] == 0 || region[1] == 0 || region[2] == 0; }

// Which sides have no length: 0, and 1 for the others.
inline std::array<uint64_t, 3> sides(const size_t* region) {
  return {region[0] != 0, region[1] != 0, region[2] != 0};
}

// Neither NULL nor empty nor outside the image; coordinates that it lacks are 0 (origin) and 1 (region).
bool region_inside(const _cl_mem& image, const size_t* origin, const size_t* region);
// The same, but empty.
bool is_empty_inside(const _cl_mem& image, const size_t* origin, const size_t* region);
// Pitches of host memory as clEnqueueReadImage asks for; 0 is dense.
bool pitches_sound(const _cl_mem& image, const copy::Layout& layout);

}  // namespace gt::virt
