#include "transport/executor/transfer/part_transfer.h"

#include "traces/base/checked_sum.h"
#include "transport/executor/base/driver_lock.h"
#include "transport/protocol/chunks.h"

namespace gt::exec {
namespace {

using Shape = wire::Part::Shape;

cl_int check_box(const Object& mem, wire::Part& p) {
  if (p.row_pitch == 0) p.row_pitch = p.region[0];
  const CheckedSum packed_slice = CheckedSum().add(p.row_pitch, p.region[1]);
  if (p.slice_pitch == 0) p.slice_pitch = packed_slice.value();
  if (p.row_pitch < p.region[0] || !packed_slice.fits(p.slice_pitch)) return CL_INVALID_VALUE;
  CheckedSum end;
  end.add(p.origin[0]).add(p.region[0]);
  end.add(p.origin[1], p.row_pitch).add(p.region[1] - 1, p.row_pitch);
  end.add(p.origin[2], p.slice_pitch).add(p.region[2] - 1, p.slice_pitch);
  return end.fits(mem.bytes) ? CL_SUCCESS : CL_INVALID_VALUE;
}

}  // namespace

cl_int check_part(const Object& mem, uint64_t bytes, wire::Part& part) {
  const bool image = part.shape == Shape::Image;
  if (mem.kind == ObjectKind::Svm && part.shape != Shape::Range) return CL_INVALID_MEM_OBJECT;
  if (part.shape > Shape::Image || image != (mem.kind == ObjectKind::Image) || mem.kind == ObjectKind::Pipe)
    return CL_INVALID_MEM_OBJECT;
  const wire::Chunks whole(part, image ? mem.element : 1, ~uint64_t{0});
  if (!whole.valid() || whole.bytes() != bytes) return CL_INVALID_VALUE;
  if (part.shape == Shape::Box) return check_box(mem, part);
  const bool fits = CheckedSum().add(part.origin[0]).add(bytes).fits(mem.bytes);
  return part.shape == Shape::Range && !fits ? CL_INVALID_VALUE : CL_SUCCESS;
}

cl_int enqueue_part(Session& session, Way way, const Queue& queue, const Memory& memory, const wire::Part& part,
                    void* host, std::span<const cl_event> waits, cl_event* event) {
  const Cl& cl = session.cl;
  const auto lock = lock_driver(session, queue);
  if (!memory.svm) return moves::enqueue_part(cl, way, queue.handle, memory.mem, part, host, waits, event);
  void* const svm = memory.svm->at(part.origin[0]);
  const bool up = way == Way::ToDevice;
  return cl.clEnqueueSVMMemcpy(queue.handle, CL_FALSE, up ? svm : host, up ? host : svm, part.region[0],
                               static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(), event);
}

}  // namespace gt::exec
