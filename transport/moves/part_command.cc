#include "transport/moves/part_command.h"

namespace gt::moves {
namespace {

using Shape = wire::Part::Shape;
using Sizes = const size_t*;
Sizes sizes(const std::array<uint64_t, 3>& a) { return reinterpret_cast<Sizes>(a.data()); }

}  // namespace

cl_int enqueue_part(const ClFunctions& cl, Way way, cl_command_queue queue, cl_mem mem, const wire::Part& p,
                    void* host, std::span<const cl_event> waits, cl_event* event) {
  const bool up = way == Way::ToDevice;
  const auto count = static_cast<cl_uint>(waits.size());
  const cl_event* const list = waits.empty() ? nullptr : waits.data();
  if (p.shape == Shape::Range) {
    return up ? cl.clEnqueueWriteBuffer(queue, mem, CL_FALSE, p.origin[0], p.region[0], host, count, list, event)
              : cl.clEnqueueReadBuffer(queue, mem, CL_FALSE, p.origin[0], p.region[0], host, count, list, event);
  }
  const size_t row = p.region[0], slice = row * p.region[1];
  const size_t nowhere[3] = {};
  if (p.shape == Shape::Box) {
    return up ? cl.clEnqueueWriteBufferRect(queue, mem, CL_FALSE, sizes(p.origin), nowhere, sizes(p.region),
                                            p.row_pitch, p.slice_pitch, row, slice, host, count, list, event)
              : cl.clEnqueueReadBufferRect(queue, mem, CL_FALSE, sizes(p.origin), nowhere, sizes(p.region),
                                           p.row_pitch, p.slice_pitch, row, slice, host, count, list, event);
  }
  return up ? cl.clEnqueueWriteImage(queue, mem, CL_FALSE, sizes(p.origin), sizes(p.region), 0, 0, host, count, list,
                                     event)
            : cl.clEnqueueReadImage(queue, mem, CL_FALSE, sizes(p.origin), sizes(p.region), 0, 0, host, count, list,
                                    event);
}

}  // namespace gt::moves
