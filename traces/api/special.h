// The irregular functions: how much host memory they touch follows from several parameters.
//
// Listed by name: clCreateImage, clCreateImageWithProperties, clCreateImage2D, clCreateImage3D,
// clEnqueueReadBufferRect, clEnqueueWriteBufferRect, clEnqueueReadImage, clEnqueueWriteImage,
// clEnqueueMapImage. A role with an Extent in any other function does not compile. An extent is in
// bytes from the given pointer to the last byte touched; 0 when it cannot be known. Thread safety:
// image_element_size is set once, before the first call.
#pragma once

#include "traces/api/table.h"

namespace gt::api {

// Bytes of one element of an image. Only its driver knows; 0 when nobody can be asked.
using ImageElementSize = size_t (*)(cl_mem image);
inline ImageElementSize image_element_size = nullptr;

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

// ExtentOf<F>::of(arguments of F as a tuple). Undefined for regular functions.
template <FnId F>
struct ExtentOf;

struct RectExtent {
  template <class T>
  static size_t of(const T& a) noexcept {
    const size_t* origin = std::get<4>(a);
    const size_t* region = std::get<5>(a);
    if (!origin || !region) return 0;
    const size_t row = std::get<8>(a) ? std::get<8>(a) : region[0];
    const size_t slice = std::get<9>(a) ? std::get<9>(a) : row * region[1];
    const size_t box = box_bytes(region[0], region[1], region[2], row, slice);
    return box ? origin[2] * slice + origin[1] * row + origin[0] + box : 0;
  }
};
template <>
struct ExtentOf<FnId::clEnqueueReadBufferRect> : RectExtent {};
template <>
struct ExtentOf<FnId::clEnqueueWriteBufferRect> : RectExtent {};

struct ImageExtent {
  template <class T>
  static size_t of(const T& a) noexcept {
    const size_t* region = std::get<4>(a);
    const size_t element = image_element_size ? image_element_size(std::get<1>(a)) : 0;
    size_t width = 0;
    if (!region || !element || __builtin_mul_overflow(region[0], element, &width)) return 0;
    return box_bytes(width, region[1], region[2], std::get<5>(a), std::get<6>(a));
  }
};
template <>
struct ExtentOf<FnId::clEnqueueReadImage> : ImageExtent {};
template <>
struct ExtentOf<FnId::clEnqueueWriteImage> : ImageExtent {};

// The mapping starts at the region's first element; the pitches are outputs.
template <>
struct ExtentOf<FnId::clEnqueueMapImage> {
  template <class T>
  static size_t of(const T& a) noexcept {
    const size_t* region = std::get<5>(a);
    const size_t* row = std::get<6>(a);
    const size_t* slice = std::get<7>(a);
    const size_t element = image_element_size ? image_element_size(std::get<1>(a)) : 0;
    if (!region || !row || !element) return 0;
    return box_bytes(region[0] * element, region[1], region[2], *row, slice ? *slice : 0);
  }
};

struct NewImageExtent {
  static size_t of(const cl_image_format* format, const cl_image_desc* d) noexcept {
    if (!format || !d) return 0;
    const size_t element = element_size(*format);
    const bool array1 = d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const bool array2 = d->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const bool flat =
        d->image_type == CL_MEM_OBJECT_IMAGE1D || d->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    const size_t height = flat || array1 ? 1 : d->image_height;
    const size_t depth = array1 || array2                         ? d->image_array_size
                         : d->image_type == CL_MEM_OBJECT_IMAGE3D ? d->image_depth
                                                                  : 1;
    size_t width = 0;
    if (__builtin_mul_overflow(d->image_width, element, &width)) return 0;
    return box_bytes(width, height, depth, d->image_row_pitch, d->image_slice_pitch);
  }
};
template <>
struct ExtentOf<FnId::clCreateImage> {
  template <class T>
  static size_t of(const T& a) noexcept {
    return NewImageExtent::of(std::get<2>(a), std::get<3>(a));
  }
};
template <>
struct ExtentOf<FnId::clCreateImageWithProperties> {
  template <class T>
  static size_t of(const T& a) noexcept {
    return NewImageExtent::of(std::get<3>(a), std::get<4>(a));
  }
};
template <>
struct ExtentOf<FnId::clCreateImage2D> {
  template <class T>
  static size_t of(const T& a) noexcept {
    const cl_image_format* f = std::get<2>(a);
    return f ? box_bytes(std::get<3>(a) * element_size(*f), std::get<4>(a), 1, std::get<5>(a), 0)
             : 0;
  }
};
template <>
struct ExtentOf<FnId::clCreateImage3D> {
  template <class T>
  static size_t of(const T& a) noexcept {
    const cl_image_format* f = std::get<2>(a);
    if (!f) return 0;
    return box_bytes(std::get<3>(a) * element_size(*f), std::get<4>(a), std::get<5>(a),
                     std::get<6>(a), std::get<7>(a));
  }
};

}  // namespace gt::api
