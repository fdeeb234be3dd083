#include "transport/executor/transfer/part_transfer.h"

#include "transport/copy/command.h"
#include "transport/executor/base/driver_lock.h"

namespace gt::exec {

using Shape = copy::Region::Shape;

cl_int check_part(const Object& mem, uint64_t bytes, copy::Region& part) {
  const bool image = part.shape == Shape::Image;
  if (mem.kind == ObjectKind::Svm && part.shape != Shape::Range) return CL_INVALID_MEM_OBJECT;
  if (part.shape > Shape::Image || image != (mem.kind == ObjectKind::Image) || mem.kind == ObjectKind::Pipe)
    return CL_INVALID_MEM_OBJECT;
  if (bytes == 0 || copy::packed_bytes(part, image ? mem.element : 1) != bytes) return CL_INVALID_VALUE;
  if (part.shape == Shape::Box) copy::settle_pitches(part);
  return image || copy::bounds(part).within(mem.bytes) ? CL_SUCCESS : CL_INVALID_VALUE;
}

cl_int enqueue_part(Session& session, Way way, const Queue& queue, const Memory& memory, const copy::Region& part,
                    void* host, std::span<const cl_event> waits, cl_event* event) {
  const auto lock = lock_driver(session, queue);
  copy::Ends ends{.mem = memory.mem, .host = host};
  if (memory.svm) {
    ends.svm = memory.svm->at(0);
    ends.svm_copy = memory.svm->usm().copy;
  }
  return copy::enqueue(session.cl, queue.handle, way, CL_FALSE, ends, part, waits, event);
}

}  // namespace gt::exec
