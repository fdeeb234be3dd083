#include "optimizer-rt/cl/transfer_call.h"

#include "optimizer-rt/cl/real.h"

namespace gt::opt {
namespace {

// 0: it cannot be had.
size_t pixel_bytes(cl_mem image) {
  size_t bytes = 0;
  const auto info = GT_REAL(clGetImageInfo);
  const bool told = info && info(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, nullptr) == CL_SUCCESS;
  return told ? bytes : 0;
}

}  // namespace

staging::HostTransfer describe(const TransferCall& c) noexcept {
  using Shape = staging::HostTransfer::Shape;
  if (!c.host) return {};
  if (c.shape == Shape::Range) return staging::range_transfer(c.way, c.mem, c.offset, c.bytes, c.host);
  if (c.shape == Shape::Svm) return staging::svm_transfer(c.way, c.svm, c.bytes, c.host);
  if (!c.origin || !c.region) return {};
  if (c.shape == Shape::Image)
    return staging::image_transfer(c.way, c.mem, c.origin, c.region, c.host_row_pitch, c.host_slice_pitch,
                                   pixel_bytes(c.mem), c.host);
  if (!c.host_origin) return {};
  return staging::box_transfer(c.way, c.mem, c.origin, c.host_origin, c.region, c.row_pitch, c.slice_pitch,
                               c.host_row_pitch, c.host_slice_pitch, c.host);
}

}  // namespace gt::opt
