// Making images, and what is known of them.
#include <algorithm>
#include <vector>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/memory/image_desc.h"
#include "optimizer-rt/client/memory/mem.h"
#include "optimizer-rt/client/transfer/first_contents.h"
#include "optimizer-rt/client/transfer/peer_mapped.h"
#include "traces/api/image_bytes.h"

namespace gt::virt {

namespace fn {
namespace {

bool is_image_type(cl_mem_object_type type) {
  return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

// Of a number that is 0 for devices without the feature.
bool some_device_has(const _cl_context& context, cl_device_info feature) {
  return std::any_of(context.devices.begin(), context.devices.end(),
                     [feature](const auto& d) { return d->template number<cl_uint>(feature) != 0; });
}

void check_extent(const _cl_context& context, const cl_image_desc& d) {
  const auto limit = [&](cl_device_info info) {
    size_t most = 0;
    for (const auto& device : context.devices) most = std::max(most, device->number<size_t>(info));
    return most;
  };
  const bool volume = d.image_type == CL_MEM_OBJECT_IMAGE3D, line = d.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  const bool flat = d.image_type == CL_MEM_OBJECT_IMAGE1D || line || d.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const bool layers = d.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY || d.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  const auto width = line     ? CL_DEVICE_IMAGE_MAX_BUFFER_SIZE
                     : volume ? CL_DEVICE_IMAGE3D_MAX_WIDTH
                              : CL_DEVICE_IMAGE2D_MAX_WIDTH;
  require(d.image_width != 0, CL_INVALID_IMAGE_DESCRIPTOR);
  require(d.image_width <= limit(width), CL_INVALID_IMAGE_SIZE);
  if (!flat) {
    require(d.image_height != 0, CL_INVALID_IMAGE_DESCRIPTOR);
    require(d.image_height <= limit(volume ? CL_DEVICE_IMAGE3D_MAX_HEIGHT : CL_DEVICE_IMAGE2D_MAX_HEIGHT),
            CL_INVALID_IMAGE_SIZE);
  }
  if (volume) {
    require(d.image_depth != 0, CL_INVALID_IMAGE_DESCRIPTOR);
    require(d.image_depth <= limit(CL_DEVICE_IMAGE3D_MAX_DEPTH), CL_INVALID_IMAGE_SIZE);
  }
  if (layers) {
    require(d.image_array_size != 0, CL_INVALID_IMAGE_DESCRIPTOR);
    require(d.image_array_size <= limit(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE), CL_INVALID_IMAGE_SIZE);
  }
}

bool same(const cl_image_format& a, const cl_image_format& b) {
  return a.image_channel_order == b.image_channel_order && a.image_channel_data_type == b.image_channel_data_type;
}

// What all sub-contexts can make.
std::vector<cl_image_format> common_formats(_cl_context& context, cl_mem_flags flags, cl_mem_object_type type) {
  std::vector<cl_image_format> common = context.sub_contexts[0]->image_formats(flags, type);
  for (size_t i = 1; i < context.sub_contexts.size(); ++i) {
    const std::vector<cl_image_format>& here = context.sub_contexts[i]->image_formats(flags, type);
    std::erase_if(common, [&](const cl_image_format& f) {
      return std::none_of(here.begin(), here.end(), [&](const cl_image_format& g) { return same(f, g); });
    });
  }
  return common;
}

// Some drivers make others, too.
bool is_listed(_cl_context& context, cl_mem_flags flags, const cl_image_format& format, cl_mem_object_type type) {
  constexpr cl_mem_flags Access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  const cl_mem_flags access = flags & Access ? flags & Access : CL_MEM_READ_WRITE;
  const std::vector<cl_image_format> known = common_formats(context, access, type);
  return std::any_of(known.begin(), known.end(), [&](const auto& f) { return same(f, format); });
}

// The pitches of host memory, as the descriptor gives them or dense.
void settle_pitches(cl_image_desc& d, size_t element, const void* host) {
  const auto region = image_region(d);
  const size_t row = region[0] * element;
  const bool layered = region[2] > 1 || d.image_type == CL_MEM_OBJECT_IMAGE3D ||
                       d.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY || d.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  require(host || d.mem_object || (d.image_row_pitch == 0 && d.image_slice_pitch == 0), CL_INVALID_IMAGE_DESCRIPTOR);
  if (d.image_row_pitch == 0) d.image_row_pitch = row;
  require(d.image_row_pitch >= row && d.image_row_pitch % element == 0, CL_INVALID_IMAGE_DESCRIPTOR);
  const size_t rows = d.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : region[1];
  const size_t slice = d.image_row_pitch * rows;
  if (!layered) {
    d.image_slice_pitch = 0;
    return;
  }
  if (d.image_slice_pitch == 0) d.image_slice_pitch = slice;
  require(d.image_slice_pitch >= slice && d.image_slice_pitch % d.image_row_pitch == 0, CL_INVALID_IMAGE_DESCRIPTOR);
}

size_t bytes_of(const cl_image_desc& d) {
  const auto region = image_region(d);
  if (d.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return d.image_slice_pitch * region[1];
  return d.image_slice_pitch ? d.image_slice_pitch * region[2] : d.image_row_pitch * region[1];
}

copy::Layout layout_of(const cl_image_desc& d, size_t element) {
  const auto region = image_region(d);
  if (d.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return {0, region[0] * element, region[1], 1, d.image_slice_pitch};
  return {0, region[0] * element, region[1], region[2], d.image_row_pitch, d.image_slice_pitch};
}

// An image of a buffer, or a view of an image.
void check_parent(const _cl_context& context, const cl_image_desc& d, size_t element) {
  const bool line = d.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  if (!d.mem_object) return require(!line, CL_INVALID_IMAGE_DESCRIPTOR);
  require(line || d.image_type == CL_MEM_OBJECT_IMAGE2D, CL_INVALID_IMAGE_DESCRIPTOR);
  const _cl_mem& parent = check(d.mem_object);
  require(parent.context.get() == &context, CL_INVALID_CONTEXT);
  require(!parent.is_image(), CL_INVALID_IMAGE_DESCRIPTOR);  // views of images: their formats are the driver's own
  require(line || some_device_has(context, CL_DEVICE_IMAGE_PITCH_ALIGNMENT), CL_INVALID_OPERATION);
  const size_t row = d.image_row_pitch ? d.image_row_pitch : d.image_width * element;
  require(row * (line ? 1 : d.image_height) <= parent.size, CL_INVALID_IMAGE_SIZE);
}

// One of which not even the size is known here: as the driver says, and not to be had in any case.
[[noreturn]] void refuse_format(_cl_context& context, cl_mem_flags flags, const cl_image_format& format,
                                const cl_image_desc& desc) {
  const Ref<_cl_mem> image = make<_cl_mem>(context, desc.image_type, flags, size_t{1});
  image->format = format;
  image->desc = desc;
  image->desc.mem_object = nullptr;
  image->require_native();
  throw Failure{CL_IMAGE_FORMAT_NOT_SUPPORTED};
}

Ref<_cl_mem> create(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                    const cl_image_desc* desc, void* host) {
  check(context);
  require(desc && is_image_type(desc->image_type) && desc->num_mip_levels == 0 && desc->num_samples == 0,
          CL_INVALID_IMAGE_DESCRIPTOR);
  require(some_device_has(*context, CL_DEVICE_IMAGE_SUPPORT), CL_INVALID_OPERATION);
  require(format, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  const size_t element = api::element_size(*format);
  cl_image_desc d = *desc;
  const cl_mem_flags given = flags;
  if (d.mem_object) flags = inherited_flags(flags, check(d.mem_object).flags) & ~cl_mem_flags{CL_MEM_COPY_HOST_PTR};
  const bool of_buffer = d.mem_object != nullptr;
  check_mem_flags(of_buffer ? flags & ~cl_mem_flags{CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR} : flags, host);
  if (element == 0) refuse_format(*context, flags, *format, d);
  const bool listed = is_listed(*context, flags, *format, d.image_type);
  check_extent(*context, d);
  check_parent(*context, d, element);
  settle_pitches(d, element, host);
  if (!(flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY))) flags |= CL_MEM_READ_WRITE;
  Ref<_cl_mem> image = make<_cl_mem>(*context, d.image_type, flags, bytes_of(d));
  image->given_flags = given;
  image->format = *format;
  image->element_bytes = element;
  make_part_of(*image, d.mem_object);
  image->desc = d;
  image->desc.mem_object = nullptr;
  if (!listed) image->require_native();
  if (host && (flags & CL_MEM_USE_HOST_PTR)) image->host_ptr = host;
  if (host) fill_new(*image, host, layout_of(d, element));
  if (context->one_sub_context()) image->at(*context->sub_contexts[0]);
  return image;
}

}  // namespace

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* desc,
                     void* host, cl_int* errcode) {
  Ref<_cl_mem> image = create(context, flags, format, desc, host);
  if (errcode) *errcode = CL_SUCCESS;
  return image.give();
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                                   const cl_image_format* format, const cl_image_desc* desc, void* host,
                                   cl_int* errcode) {
  check(context);
  require(!properties || *properties == 0, CL_INVALID_PROPERTY);
  Ref<_cl_mem> image = create(context, flags, format, desc, host);
  if (properties) image->properties = {0};
  if (errcode) *errcode = CL_SUCCESS;
  return image.give();
}

// The functions before OpenCL 1.2 have codes of their own.
static cl_mem create_old(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                         const cl_image_desc& desc, void* host, cl_int* errcode) {
  check(context);
  require(desc.image_width != 0 && desc.image_height != 0, CL_INVALID_IMAGE_SIZE);
  return fn::clCreateImage(context, flags, format, &desc, host, errcode);
}
cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format* format, size_t width,
                       size_t height, size_t row_pitch, void* host, cl_int* errcode) {
  cl_image_desc d{};
  d.image_type = CL_MEM_OBJECT_IMAGE2D;
  d.image_width = width;
  d.image_height = height;
  d.image_row_pitch = row_pitch;
  return create_old(context, flags, format, d, host, errcode);
}
cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format* format, size_t width,
                       size_t height, size_t depth, size_t row_pitch, size_t slice_pitch, void* host,
                       cl_int* errcode) {
  cl_image_desc d{};
  d.image_type = CL_MEM_OBJECT_IMAGE3D;
  d.image_width = width;
  d.image_height = height;
  d.image_depth = depth;
  d.image_row_pitch = row_pitch;
  d.image_slice_pitch = slice_pitch;
  return create_old(context, flags, format, d, host, errcode);
}

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint n,
                                  cl_image_format* formats, cl_uint* count) {
  check(context);
  require(is_image_type(type) && (n != 0 || !formats), CL_INVALID_VALUE);
  const std::vector<cl_image_format> common = common_formats(*context, flags, type);
  if (count) *count = static_cast<cl_uint>(common.size());
  if (formats) std::copy_n(common.begin(), std::min<size_t>(n, common.size()), formats);
  return CL_SUCCESS;
}

cl_int clGetImageInfo(cl_mem image, cl_image_info name, size_t room, void* value, size_t* size_ret) {
  require(check(image).is_image(), CL_INVALID_MEM_OBJECT);
  const Answer answer(room, value, size_ret);
  const cl_image_desc& d = image->desc;
  const auto region = image_region(d);
  const bool arrays = d.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY || d.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  const cl_uint dimensions = image_dimensions(d.image_type) - (arrays ? 1 : 0);
  switch (name) {
    case CL_IMAGE_FORMAT:
      return answer.value(image->format);
    case CL_IMAGE_ELEMENT_SIZE:
      return answer.value(image->element_bytes);
    case CL_IMAGE_ROW_PITCH:
      return answer.value(d.image_row_pitch);
    case CL_IMAGE_SLICE_PITCH:
      return answer.value(d.image_slice_pitch);
    case CL_IMAGE_WIDTH:
      return answer.value(d.image_width);
    case CL_IMAGE_HEIGHT:
      return answer.value(dimensions >= 2 ? static_cast<size_t>(region[1]) : size_t{0});
    case CL_IMAGE_DEPTH:
      return answer.value(dimensions >= 3 ? static_cast<size_t>(region[2]) : size_t{0});
    case CL_IMAGE_ARRAY_SIZE:
      return answer.value(arrays ? d.image_array_size : size_t{0});
    case CL_IMAGE_BUFFER:
      return answer.value(image->parent.get());
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES:
      return answer.value<cl_uint>(0);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace fn
}  // namespace gt::virt
