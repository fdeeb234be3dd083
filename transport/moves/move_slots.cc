#include "transport/moves/move_slots.h"

#include <cstring>

#include "transport/copy/command.h"
#include "transport/memory/pin.h"

namespace gt::moves {

std::unique_ptr<PinnedSlots> PinnedSlots::make(const MoveEnd& from, const MoveEnd& to, size_t bytes) {
  void* const base = memory::map_huge(bytes);
  if (!base) return nullptr;
  std::memset(base, 0, bytes);  // pinning finds the pages there, instead of making each
  return std::unique_ptr<PinnedSlots>(new PinnedSlots(from, to, static_cast<char*>(base), bytes));
}

PinnedSlots::PinnedSlots(const MoveEnd& from, const MoveEnd& to, char* base, size_t bytes)
    : ends_{from, to}, base_(base), bytes_(bytes) {
  for (int i = 0; i < 2; ++i) {
    cl_int code = CL_SUCCESS;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    pins_[i] = ends_[i].cl.clCreateBuffer(ends_[i].context, flags, bytes, base, &code);
    if (code != CL_SUCCESS) pins_[i] = nullptr;
  }
}

PinnedSlots::~PinnedSlots() {
  for (int i = 0; i < 2; ++i)
    if (pins_[i]) ends_[i].cl.clReleaseMemObject(pins_[i]);
  memory::unmap_huge(base_, bytes_);
}

cl_int PinnedSlots::fill(cl_command_queue queue, cl_mem from, const copy::Region& part, size_t offset,
                         cl_event* event) {
  return copy::enqueue(ends_[0].cl, queue, copy::Way::ToHost, CL_FALSE, {.mem = from, .host = base_ + offset}, part, {},
                       event);
}

cl_int PinnedSlots::drain(cl_command_queue queue, cl_mem to, const copy::Region& part, size_t offset, cl_event* event) {
  return copy::enqueue(ends_[1].cl, queue, copy::Way::ToDevice, CL_FALSE, {.mem = to, .host = base_ + offset}, part, {},
                       event);
}

}  // namespace gt::moves
