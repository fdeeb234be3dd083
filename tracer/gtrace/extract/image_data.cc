#include "tracer/gtrace/extract/image_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "traces/api/print.h"

namespace gt::tracer {

using api::FnId;

namespace {

class Asked {
 public:
  Asked(const OpenClLibrary& cl, cl_mem image)
      : image_(image),
        object_(cl.get<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo)),
        info_(cl.get<decltype(clGetImageInfo)>(FnId::clGetImageInfo)) {}

  template <class T>
  T image(cl_image_info what) {
    T value{};
    if (info_(image_, what, sizeof value, &value, nullptr) != CL_SUCCESS) failed_ = true;
    return value;
  }
  uint32_t type() {
    cl_mem_object_type value = 0;
    if (object_(image_, CL_MEM_TYPE, sizeof value, &value, nullptr) != CL_SUCCESS) failed_ = true;
    return value;
  }
  bool failed() const { return failed_; }

 private:
  cl_mem image_;
  decltype(&clGetMemObjectInfo) object_;
  decltype(&clGetImageInfo) info_;
  bool failed_ = false;
};

}  // namespace

Result<ExtractedImage> describe_image(const OpenClLibrary& cl, cl_mem image) {
  Asked ask(cl, image);
  ExtractedImage out;
  const auto format = ask.image<cl_image_format>(CL_IMAGE_FORMAT);
  out.order = format.image_channel_order;
  out.channel = format.image_channel_data_type;
  out.type = ask.type();
  out.width = ask.image<size_t>(CL_IMAGE_WIDTH);
  out.height = std::max<size_t>(ask.image<size_t>(CL_IMAGE_HEIGHT), 1);
  out.depth = std::max<size_t>(ask.image<size_t>(CL_IMAGE_DEPTH), 1);
  out.layers = ask.image<size_t>(CL_IMAGE_ARRAY_SIZE);
  out.element_bytes = ask.image<size_t>(CL_IMAGE_ELEMENT_SIZE);
  const bool odd = ask.image<cl_uint>(CL_IMAGE_NUM_MIP_LEVELS) > 1 || ask.image<cl_uint>(CL_IMAGE_NUM_SAMPLES) > 1;
  if (ask.failed()) return Status(Kind::OpenCl, "the driver does not say what an image is");
  if (odd || out.type == CL_MEM_OBJECT_IMAGE1D_BUFFER)
    return Status(Kind::Unsupported, "an image over a buffer, with mip levels or with samples cannot be extracted");
  return out;
}

Status read_image(const OpenClLibrary& cl, cl_command_queue queue, cl_mem image, const ExtractedImage& what,
                  Bytes& out) {
  const std::array<size_t, 3> origin{}, region = what.region();
  out.resize(region[0] * region[1] * region[2] * what.element_bytes);
  const cl_int code = cl.get<decltype(clEnqueueReadImage)>(FnId::clEnqueueReadImage)(
      queue, image, CL_TRUE, origin.data(), region.data(), 0, 0, out.data(), 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status()
                            : Status(Kind::OpenCl, fmt::format("reading an image: {}", api::error_name(code)), code);
}

ElementType channel_element(const ExtractedImage& image) {
  switch (image.channel) {
    case CL_SNORM_INT8:
    case CL_SIGNED_INT8:
      return ElementType::Char;
    case CL_UNORM_INT8:
    case CL_UNSIGNED_INT8:
      return ElementType::UChar;
    case CL_SNORM_INT16:
    case CL_SIGNED_INT16:
      return ElementType::Short;
    case CL_UNORM_INT16:
    case CL_UNSIGNED_INT16:
      return ElementType::UShort;
    case CL_SIGNED_INT32:
      return ElementType::Int;
    case CL_UNSIGNED_INT32:
      return ElementType::UInt;
    case CL_HALF_FLOAT:
      return ElementType::Half;
    case CL_FLOAT:
      return ElementType::Float;
    default:
      return ElementType::Byte;
  }
}

std::array<size_t, 3> ExtractedImage::region() const {
  switch (type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return {width, layers, 1};
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return {width, height, layers};
    default:
      return {width, height, depth};
  }
}

}  // namespace gt::tracer
