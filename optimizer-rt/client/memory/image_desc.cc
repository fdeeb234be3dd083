#include "optimizer-rt/client/memory/image_desc.h"

namespace gt::virt {

std::array<uint64_t, 3> image_region(const cl_image_desc& d) {
  switch (d.image_type) {
    case CL_MEM_OBJECT_IMAGE1D:
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return {d.image_width, 1, 1};
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return {d.image_width, d.image_array_size, 1};
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return {d.image_width, d.image_height, d.image_array_size};
    case CL_MEM_OBJECT_IMAGE3D:
      return {d.image_width, d.image_height, d.image_depth};
    default:
      return {d.image_width, d.image_height, 1};
  }
}

cl_uint image_dimensions(cl_mem_object_type type) {
  switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return 1;
    case CL_MEM_OBJECT_IMAGE2D:
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return 2;
    default:
      return 3;
  }
}

}  // namespace gt::virt
