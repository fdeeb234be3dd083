// The irregular functions: how much host memory they touch follows from several parameters.
//
// Listed by name: clCreateImage, clCreateImageWithProperties, clCreateImage2D, clCreateImage3D,
// clEnqueueReadBufferRect, clEnqueueWriteBufferRect, clEnqueueReadImage, clEnqueueWriteImage,
// clEnqueueMapImage. A role with an Extent in any other function does not compile. An extent is in
// bytes from the given pointer to the last byte touched; 0 when it cannot be known. Thread safety:
// image_element_size is set once, before the first call.
#pragma once

#include "traces/api/image_bytes.h"
#include "traces/api/table.h"

namespace gt::api {

// Bytes of one element of an image. Only its driver knows; 0 when nobody can be asked.
using ImageElementSize = size_t (*)(cl_mem image);
inline ImageElementSize image_element_size = nullptr;

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
