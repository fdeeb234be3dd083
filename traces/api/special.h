// The irregular functions: how much host memory they touch follows from several parameters.
//
// Listed by name: clCreateImage, clCreateImageWithProperties, clCreateImage2D, clCreateImage3D,
// clEnqueueReadBufferRect, clEnqueueWriteBufferRect, clEnqueueReadImage, clEnqueueWriteImage,
// clEnqueueMapImage. A role with an Extent in any other function does not compile. An extent is in
// bytes from the given pointer to the last byte touched; 0 when it cannot be known (host_box.h).
// Thread safety: image_elements is set once, before the first call.
#pragma once

#include "traces/api/host_box.h"
#include "traces/api/table.h"

namespace gt::api {

// What the elements of an image are, and how they lie. Only its driver knows; 0 bytes when nobody can be asked.
struct ImageElements {
  size_t bytes = 0;    // of one
  bool lines = false;  // an array of one-dimensional images: each lies a slice pitch behind the one before
};
using ImageElementsOf = ImageElements (*)(cl_mem image);
inline ImageElementsOf image_elements = nullptr;

// BoxOf<F>::of(arguments of F as a tuple). Undefined for regular functions.
template <FnId F>
struct BoxOf;

template <FnId F, class T>
size_t extent_of(const T& args) noexcept {
  return BoxOf<F>::of(args).extent();
}

struct RectBox {
  template <class T>
  static HostBox of(const T& a) noexcept {
    const size_t* origin = std::get<4>(a);
    const size_t* region = std::get<5>(a);
    if (!origin || !region) return {};
    HostBox box{0, region[0], region[1], region[2], std::get<8>(a), std::get<9>(a)};
    box.offset = origin[2] * box.slice_step() + origin[1] * box.row_step() + origin[0];
    return box;
  }
};
template <>
struct BoxOf<FnId::clEnqueueReadBufferRect> : RectBox {};
template <>
struct BoxOf<FnId::clEnqueueWriteBufferRect> : RectBox {};

// A region of an image; of width 0 when it is not known how large its elements are.
inline HostBox image_box(cl_mem image, const size_t* region, size_t row_pitch, size_t slice_pitch) noexcept {
  const ImageElements elements = image_elements ? image_elements(image) : ImageElements{};
  size_t width = 0;
  if (__builtin_mul_overflow(region[0], elements.bytes, &width)) return {};
  if (elements.lines) return {0, width, 1, region[1], row_pitch, slice_pitch};
  return {0, width, region[1], region[2], row_pitch, slice_pitch};
}

struct ImageBox {
  template <class T>
  static HostBox of(const T& a) noexcept {
    const size_t* region = std::get<4>(a);
    return region ? image_box(std::get<1>(a), region, std::get<5>(a), std::get<6>(a)) : HostBox{};
  }
};
template <>
struct BoxOf<FnId::clEnqueueReadImage> : ImageBox {};
template <>
struct BoxOf<FnId::clEnqueueWriteImage> : ImageBox {};

// The mapping starts at the region's first element; the pitches are outputs.
template <>
struct BoxOf<FnId::clEnqueueMapImage> {
  template <class T>
  static HostBox of(const T& a) noexcept {
    const size_t* region = std::get<5>(a);
    const size_t* row = std::get<6>(a);
    const size_t* slice = std::get<7>(a);
    return region && row ? image_box(std::get<1>(a), region, *row, slice ? *slice : 0) : HostBox{};
  }
};

// What a new image is filled from.
inline HostBox new_image_box(const cl_image_format* format, size_t elements, size_t height, size_t depth,
                             size_t row_pitch, size_t slice_pitch) noexcept {
  size_t width = 0;
  if (!format || __builtin_mul_overflow(elements, element_size(*format), &width)) return {};
  return {0, width, height, depth, row_pitch, slice_pitch};
}

struct NewImageBox {
  static HostBox of(const cl_image_format* format, const cl_image_desc* d) noexcept {
    if (!d) return {};
    const bool array1 = d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const bool array2 = d->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const bool flat =
        d->image_type == CL_MEM_OBJECT_IMAGE1D || d->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    const size_t height = flat || array1 ? 1 : d->image_height;
    const size_t depth = array1 || array2                         ? d->image_array_size
                         : d->image_type == CL_MEM_OBJECT_IMAGE3D ? d->image_depth
                                                                  : 1;
    return new_image_box(format, d->image_width, height, depth, d->image_row_pitch, d->image_slice_pitch);
  }
};
template <>
struct BoxOf<FnId::clCreateImage> {
  template <class T>
  static HostBox of(const T& a) noexcept {
    return NewImageBox::of(std::get<2>(a), std::get<3>(a));
  }
};
template <>
struct BoxOf<FnId::clCreateImageWithProperties> {
  template <class T>
  static HostBox of(const T& a) noexcept {
    return NewImageBox::of(std::get<3>(a), std::get<4>(a));
  }
};
template <>
struct BoxOf<FnId::clCreateImage2D> {
  template <class T>
  static HostBox of(const T& a) noexcept {
    return new_image_box(std::get<2>(a), std::get<3>(a), std::get<4>(a), 1, std::get<5>(a), 0);
  }
};
template <>
struct BoxOf<FnId::clCreateImage3D> {
  template <class T>
  static HostBox of(const T& a) noexcept {
    return new_image_box(std::get<2>(a), std::get<3>(a), std::get<4>(a), std::get<5>(a), std::get<6>(a),
                         std::get<7>(a));
  }
};

}  // namespace gt::api
