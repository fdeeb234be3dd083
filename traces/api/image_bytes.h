// Bytes of image elements and of boxes of them.
//
// Thread safety: functions of their arguments.
#pragma once

#include <CL/cl.h>

#include <cstddef>

namespace gt::api {

// Bytes of one element of a format; 0 for a format that we do not know.
constexpr size_t element_size(const cl_image_format& format) {
  size_t channels = 0;
  switch (format.image_channel_order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
    case CL_Rx:
      channels = 1;
      break;
    case CL_RG:
    case CL_RA:
    case CL_RGx:
      channels = 2;
      break;
    case CL_RGB:
    case CL_RGBx:
    case CL_sRGB:
      channels = 3;
      break;
    case CL_RGBA:
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
    case CL_sRGBA:
    case CL_sBGRA:
    case CL_sRGBx:
      channels = 4;
      break;
    default:
      return 0;
  }
  switch (format.image_channel_data_type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
      return channels;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
      return 2 * channels;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
      return 4 * channels;
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555:
      return 2;
    case CL_UNORM_INT_101010:
    case CL_UNORM_INT_101010_2:
      return 4;
    default:
      return 0;
  }
}

// A box of width x height x depth; pitches of 0 mean densely packed. 0 when it does not fit in 64
// bits.
constexpr size_t box_bytes(size_t width, size_t height, size_t depth, size_t row_pitch,
                           size_t slice_pitch) {
  if (width == 0 || height == 0 || depth == 0) return 0;
  const size_t row = row_pitch ? row_pitch : width;
  size_t slice = slice_pitch, slices = 0, rows = 0, sum = 0;
  if (slice == 0 && __builtin_mul_overflow(row, height, &slice)) return 0;
  if (__builtin_mul_overflow(slice, depth - 1, &slices) ||
      __builtin_mul_overflow(row, height - 1, &rows))
    return 0;
  if (__builtin_add_overflow(slices, rows, &sum) || __builtin_add_overflow(sum, width, &sum))
    return 0;
  return sum;
}

}  // namespace gt::api
