// Slots in the memory of both devices, for NVIDIA's: the source copies into its own, writes from there to the
// destination's without any host (the direct device-to-device transfer of ExpEther), and the destination copies out of
// them. That is two copies more than need be, each at the speed of device memory; buffers that live in such memory
// themselves (native_moves.h) need only the one in between.
//
// Costs a context of CUDA's on each device, some hundreds of milliseconds and megabytes.
// Thread safety: as MoveSlots. hop() and copy() block, with a cuda::Use of their own; when the process ends they are
// refused (CL_OUT_OF_RESOURCES).
#pragma once

#include <memory>

#include "transport/moves/cuda.h"
#include "transport/moves/peer_memory.h"

namespace gt::moves {

class PeerSlots final : public MoveSlots {
 public:
  // nullptr: the devices, the drivers or what is free of the memory do not allow it. REQUIRES: a cuda::Use.
  static std::unique_ptr<PeerSlots> make(const std::shared_ptr<PeerDevice>& from,
                                         const std::shared_ptr<PeerDevice>& to, size_t bytes);
  ~PeerSlots() override;

  size_t bytes() const override { return halves_[0]->bytes(); }
  cl_int fill(cl_command_queue queue, cl_mem from, const copy::Region& part, size_t offset, cl_event* event) override;
  cl_int hop(size_t offset, size_t bytes) override;
  cl_int drain(cl_command_queue queue, cl_mem to, const copy::Region& part, size_t offset, cl_event* event) override;

  const std::shared_ptr<PeerDevice>& from() const { return halves_[0]->device(); }
  const std::shared_ptr<PeerDevice>& to() const { return halves_[1]->device(); }
  // From memory of the source's to memory of the destination's, and returns when it is there. REQUIRES: it admits the
  // source.
  cl_int copy(cuda::Address from, cuda::Address to, size_t bytes);

 private:
  PeerSlots() = default;
  bool open(const std::shared_ptr<PeerDevice>& from, const std::shared_ptr<PeerDevice>& to, size_t bytes);

  std::unique_ptr<PeerMemory> halves_[2];  // the source's, the destination's
  cuda::Stream stream_ = nullptr;
};

}  // namespace gt::moves
