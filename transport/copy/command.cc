#include "transport/copy/command.h"

namespace gt::copy {

cl_int enqueue(const ClFunctions& cl, cl_command_queue queue, Way way, cl_bool blocking, const Ends& ends,
               const Region& r, std::span<const cl_event> waits, cl_event* event) noexcept {
  const bool up = way == Way::ToDevice;
  const auto count = static_cast<cl_uint>(waits.size());
  const cl_event* const list = waits.empty() ? nullptr : waits.data();
  void* const host = ends.host;
  if (ends.svm) {
    void* const there = static_cast<char*>(ends.svm) + r.origin[0];
    const auto copy = ends.svm_copy ? ends.svm_copy : cl.clEnqueueSVMMemcpy;
    return copy(queue, blocking, up ? there : host, up ? host : there, r.region[0], count, list, event);
  }
  if (r.is_range())
    return up ? cl.clEnqueueWriteBuffer(queue, ends.mem, blocking, r.origin[0], r.region[0], host, count, list, event)
              : cl.clEnqueueReadBuffer(queue, ends.mem, blocking, r.origin[0], r.region[0], host, count, list, event);
  const size_t* const origin = sizes(r.origin);
  const size_t* const region = sizes(r.region);
  if (r.shape == Region::Shape::Image) {
    const size_t row = ends.host_row_pitch;
    const size_t slice = region[2] == 1 ? 0 : ends.host_slice_pitch;  // of one slice only, some images take no pitch
    return up ? cl.clEnqueueWriteImage(queue, ends.mem, blocking, origin, region, row, slice, host, count, list, event)
              : cl.clEnqueueReadImage(queue, ends.mem, blocking, origin, region, row, slice, host, count, list, event);
  }
  const size_t nowhere[3] = {};
  const size_t row = ends.host_row_pitch ? ends.host_row_pitch : region[0];
  const size_t slice = ends.host_slice_pitch ? ends.host_slice_pitch : row * region[1];
  return up ? cl.clEnqueueWriteBufferRect(queue, ends.mem, blocking, origin, nowhere, region, r.row_pitch,
                                          r.slice_pitch, row, slice, host, count, list, event)
            : cl.clEnqueueReadBufferRect(queue, ends.mem, blocking, origin, nowhere, region, r.row_pitch,
                                         r.slice_pitch, row, slice, host, count, list, event);
}

}  // namespace gt::copy
