#include "transport/moves/peer_slots.h"

namespace gt::moves {
namespace {

using Shape = copy::Region::Shape;
using copy::sizes;

constexpr unsigned NonBlocking = 1;  // CU_STREAM_NON_BLOCKING: not behind the program's CUDA

}  // namespace

std::unique_ptr<PeerSlots> PeerSlots::make(const std::shared_ptr<PeerDevice>& from,
                                           const std::shared_ptr<PeerDevice>& to, size_t bytes) {
  std::unique_ptr<PeerSlots> slots(new PeerSlots);
  return slots->open(from, to, bytes) ? std::move(slots) : nullptr;
}

bool PeerSlots::open(const std::shared_ptr<PeerDevice>& from, const std::shared_ptr<PeerDevice>& to, size_t bytes) {
  halves_[0] = PeerMemory::make(from, bytes);
  halves_[1] = halves_[0] ? PeerMemory::make(to, bytes) : nullptr;
  if (!halves_[1] || !halves_[1]->admit(*from)) return false;
  const cuda::Current current(from->cuda, from->context);
  if (current.good() && from->cuda.create_stream(&stream_, NonBlocking) == 0) return true;
  stream_ = nullptr;
  return false;
}

PeerSlots::~PeerSlots() {
  if (!stream_) return;
  const cuda::Use use;
  if (!use.allowed()) return;
  const cuda::Current current(from()->cuda, from()->context);
  from()->cuda.destroy_stream(stream_);
}

cl_int PeerSlots::fill(cl_command_queue queue, cl_mem from, const copy::Region& part, size_t offset, cl_event* event) {
  const ClFunctions& cl = halves_[0]->device()->end.cl;
  const cl_mem slots = halves_[0]->mem();
  if (part.shape == Shape::Image)
    return cl.clEnqueueCopyImageToBuffer(queue, from, slots, sizes(part.origin), sizes(part.region), offset, 0, nullptr,
                                         event);
  return cl.clEnqueueCopyBuffer(queue, from, slots, part.origin[0], offset, part.region[0], 0, nullptr, event);
}

cl_int PeerSlots::hop(size_t offset, size_t bytes) {
  return copy(halves_[0]->address() + offset, halves_[1]->address() + offset, bytes);
}

cl_int PeerSlots::drain(cl_command_queue queue, cl_mem to, const copy::Region& part, size_t offset, cl_event* event) {
  const ClFunctions& cl = halves_[1]->device()->end.cl;
  const cl_mem slots = halves_[1]->mem();
  if (part.shape == Shape::Image)
    return cl.clEnqueueCopyBufferToImage(queue, slots, to, offset, sizes(part.origin), sizes(part.region), 0, nullptr,
                                         event);
  return cl.clEnqueueCopyBuffer(queue, slots, to, offset, part.origin[0], part.region[0], 0, nullptr, event);
}

cl_int PeerSlots::copy(cuda::Address from, cuda::Address to, size_t bytes) {
  const cuda::Use use;
  if (!use.allowed()) return CL_OUT_OF_RESOURCES;
  const cuda::Functions& cuda = this->from()->cuda;
  const cuda::Current current(cuda, this->from()->context);
  const bool good =
      current.good() && cuda.copy(to, from, bytes, stream_) == 0 && cuda.synchronize(stream_) == 0;
  return good ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

}  // namespace gt::moves
