#include "optimizer-rt/client/memory/regions.h"

#include "optimizer-rt/client/memory/image_desc.h"

namespace gt::virt {

bool region_inside(const _cl_mem& image, const size_t* origin, const size_t* region) {
  if (!origin || !region) return false;
  const auto whole = image_region(image.desc);
  for (cl_uint i = 0; i < 3; ++i) {
    if (!inside(origin[i], region[i], whole[i])) return false;
  }
  return true;
}

bool is_empty_inside(const _cl_mem& image, const size_t* origin, const size_t* region) {
  if (!origin || !region) return false;
  const auto whole = image_region(image.desc);
  for (cl_uint i = 0; i < 3; ++i) {
    if (!lies_inside(origin[i], region[i], whole[i])) return false;
  }
  return is_empty(region);
}

bool pitches_sound(const _cl_mem& image, const copy::Layout& l) {
  const size_t row = l.row_step();
  if (row < l.width) return false;
  const bool layers = image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (image_dimensions(image.type) < 3 && !layers) return true;  // there are no slices
  return l.slice_pitch == 0 || l.slice_pitch >= row * (layers ? 1 : l.height);
}

}  // namespace gt::virt
