#include "optimizer-rt/cl/valid_transfer.h"

#include "optimizer-rt/cl/real.h"
#include "traces/base/checked_sum.h"

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

bool lies_in_buffer(const HostTransfer& t) {
  size_t size = 0;
  return t.end > 0 && ask(t.mem, CL_MEM_SIZE, &size) && t.end <= size;
}

// Images whose third dimension is one in memory, too: of arrays of rows, slices mean something else.
bool is_in_image(const HostTransfer& t) {
  cl_mem_object_type type = 0;
  size_t whole[3] = {0, 0, 1};
  if (!ask(t.mem, CL_MEM_TYPE, &type) || !ask_image(t.mem, CL_IMAGE_WIDTH, &whole[0]) ||
      !ask_image(t.mem, CL_IMAGE_HEIGHT, &whole[1]))
    return false;
  const bool deep = type == CL_MEM_OBJECT_IMAGE3D;
  if (!deep && type != CL_MEM_OBJECT_IMAGE2D && type != CL_MEM_OBJECT_IMAGE2D_ARRAY) return false;
  if (type != CL_MEM_OBJECT_IMAGE2D && !ask_image(t.mem, deep ? CL_IMAGE_DEPTH : CL_IMAGE_ARRAY_SIZE, &whole[2]))
    return false;
  for (int i = 0; i < 3; ++i)
    if (!copy::bounds(copy::range(t.region.origin[i], t.region.region[i])).within(whole[i])) return false;
  return true;
}

// Of the host's memory, where 0 is dense. One slice has no pitch.
bool pitches_are_valid(const HostTransfer& t) {
  const copy::Layout& l = t.layout;
  const CheckedSum slice = CheckedSum().add(l.row_step(), l.height);
  return l.row_step() >= l.width && l.extent() > 0 &&
         (l.slice_pitch == 0 || (l.depth > 1 && slice.fits(l.slice_pitch)));
}

}  // namespace

bool is_valid_transfer(const TransferCall& c, const HostTransfer& t, const QueueEntry& queue) noexcept {
  if ((c.waits == 0) != (c.wait_list == nullptr)) return false;
  if (c.shape == HostTransfer::Shape::Svm) return true;  // copy_of_svm() has looked at its addresses
  cl_context context = nullptr;
  if (!ask(c.mem, CL_MEM_CONTEXT, &context) || context != queue.context || !host_may(c.mem, c.way)) return false;
  return c.shape == HostTransfer::Shape::Image ? pitches_are_valid(t) && is_in_image(t) : lies_in_buffer(t);
}

}  // namespace gt::opt
