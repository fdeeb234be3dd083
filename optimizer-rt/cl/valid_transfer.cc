#include "optimizer-rt/cl/valid_transfer.h"

#include "optimizer-rt/cl/real.h"

namespace gt::opt {
namespace {

using staging::HostTransfer;

template <class T>
bool ask(cl_mem mem, cl_mem_info what, T* out) {
  const auto info = GT_REAL(clGetMemObjectInfo);
  return info && info(mem, what, sizeof *out, out, nullptr) == CL_SUCCESS;
}
bool ask_image(cl_mem image, cl_image_info what, size_t* out) {
  const auto info = GT_REAL(clGetImageInfo);
  return info && info(image, what, sizeof *out, out, nullptr) == CL_SUCCESS;
}

bool host_may(cl_mem mem, staging::Way way) {
  cl_mem_flags flags = 0;
  if (!ask(mem, CL_MEM_FLAGS, &flags)) return false;
  const cl_mem_flags forbidden =
      CL_MEM_HOST_NO_ACCESS | (way == staging::Way::ToDevice ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
  return (flags & forbidden) == 0;
}

// a + b <= limit, without overflow.
bool fits(size_t a, size_t b, size_t limit) { return a <= limit && b <= limit - a; }

bool is_valid_range(const TransferCall& c) {
  size_t size = 0;
  return ask(c.mem, CL_MEM_SIZE, &size) && fits(c.offset, c.bytes, size);
}

constexpr size_t Sane = size_t{1} << 40;  // larger pitches and origins are the driver's business

// The bytes from the start of memory to the end of a box in it; 0: its pitches are wrong.
size_t box_end(const size_t* origin, const size_t* region, size_t row, size_t slice) {
  if (row == 0) row = region[0];
  if (slice == 0) slice = row * region[1];
  if (row < region[0] || slice < row * region[1] || slice % row != 0 || row > Sane || slice > Sane) return 0;
  for (int i = 0; i < 3; ++i)
    if (origin[i] > Sane) return 0;
  size_t end = 0, rows = 0;
  if (__builtin_mul_overflow(origin[2] + region[2] - 1, slice, &end) ||
      __builtin_mul_overflow(origin[1] + region[1] - 1, row, &rows) || __builtin_add_overflow(end, rows, &end) ||
      __builtin_add_overflow(end, origin[0] + region[0], &end))
    return 0;
  return end;
}

bool is_valid_box(const TransferCall& c) {
  size_t size = 0;
  if (!c.origin || !c.host_origin || !ask(c.mem, CL_MEM_SIZE, &size)) return false;
  const size_t end = box_end(c.origin, c.region, c.row_pitch, c.slice_pitch);
  return end > 0 && end <= size && box_end(c.host_origin, c.region, c.host_row_pitch, c.host_slice_pitch) > 0;
}

// Images whose third dimension is one in memory, too: of arrays of rows, slices mean something else.
bool is_valid_image(const TransferCall& c) {
  cl_mem_object_type type = 0;
  size_t width = 0, height = 0, depth = 0;
  if (!c.origin || !ask(c.mem, CL_MEM_TYPE, &type) || !ask_image(c.mem, CL_IMAGE_WIDTH, &width) ||
      !ask_image(c.mem, CL_IMAGE_HEIGHT, &height))
    return false;
  if (type == CL_MEM_OBJECT_IMAGE2D) {
    depth = 1;
  } else if (type == CL_MEM_OBJECT_IMAGE3D) {
    if (!ask_image(c.mem, CL_IMAGE_DEPTH, &depth)) return false;
  } else if (type != CL_MEM_OBJECT_IMAGE2D_ARRAY || !ask_image(c.mem, CL_IMAGE_ARRAY_SIZE, &depth)) {
    return false;
  }
  const size_t row = c.region[0] * pixel_bytes(c.mem);
  const size_t pitch = c.host_row_pitch ? c.host_row_pitch : row;
  const bool pitches = pitch >= row && pitch <= Sane &&
                       (c.host_slice_pitch == 0 || (c.host_slice_pitch >= pitch * c.region[1] && c.region[2] > 1 &&
                                                    c.host_slice_pitch <= Sane));
  return pitches && fits(c.origin[0], c.region[0], width) && fits(c.origin[1], c.region[1], height) &&
         fits(c.origin[2], c.region[2], depth);
}

}  // namespace

size_t pixel_bytes(cl_mem image) noexcept {
  size_t bytes = 0;
  return ask_image(image, CL_IMAGE_ELEMENT_SIZE, &bytes) ? bytes : 0;
}

size_t moved_bytes(const TransferCall& c) noexcept {
  if (!c.host) return 0;
  if (c.is_range()) return c.bytes;
  if (!c.region) return 0;
  size_t bytes = c.shape == HostTransfer::Shape::Image ? pixel_bytes(c.mem) : 1;
  for (int i = 0; i < 3; ++i)
    if (c.region[i] > Sane || __builtin_mul_overflow(bytes, c.region[i], &bytes)) return 0;
  return bytes;
}

bool is_valid_transfer(const TransferCall& c, const QueueEntry& queue) noexcept {
  if (!c.host || (c.waits == 0) != (c.wait_list == nullptr)) return false;
  if (c.shape == HostTransfer::Shape::Svm) return true;  // copy_of_svm() has looked at its addresses
  cl_context context = nullptr;
  if (!ask(c.mem, CL_MEM_CONTEXT, &context) || context != queue.context || !host_may(c.mem, c.way)) return false;
  if (c.shape == HostTransfer::Shape::Box) return is_valid_box(c);
  if (c.shape == HostTransfer::Shape::Image) return is_valid_image(c);
  return is_valid_range(c);
}

}  // namespace gt::opt
