// Slots in the memory of both devices, for NVIDIA's: the source copies into its own, writes from there to the
// destination's without any host (the direct device-to-device transfer of ExpEther), and the destination copies out of
// them. That is two copies more than need be, each at the speed of device memory; buffers themselves would have to be
// CUDA's from the beginning.
//
// The memory is allocated by CUDA, which maps it for both devices, and imported by each device's OpenCL context. CUDA's
// commands and OpenCL's are ordered by waiting for each in turn. Costs a context of CUDA's on each device, some
// hundreds of milliseconds and megabytes.
#pragma once

#include <memory>

#include "optimizer-rt/virtual/cuda.h"
#include "optimizer-rt/virtual/move_slots.h"

namespace gt::virt {

class PeerSlots final : public MoveSlots {
 public:
  // nullptr: the devices, the drivers or what is free of the memory do not allow it. REQUIRES: a cuda::Use.
  static std::unique_ptr<PeerSlots> make(const cuda::Functions& cuda, const MoveEnd& from, const MoveEnd& to,
                                         size_t bytes);
  ~PeerSlots() override;

  size_t bytes() const override { return bytes_; }
  cl_int fill(cl_command_queue queue, cl_mem from, const wire::Part& part, size_t offset, cl_event* event) override;
  cl_int hop(size_t offset, size_t bytes) override;
  cl_int drain(cl_command_queue queue, cl_mem to, const wire::Part& part, size_t offset, cl_event* event) override;

 private:
  // The memory on one device, as CUDA and as OpenCL have it.
  struct Half {
    MoveEnd end;
    cuda::Device device = 0;
    cuda::Context context = nullptr;
    cuda::Allocation allocation = 0;
    cuda::Address address = 0;
    bool mapped = false;
    cl_mem mem = nullptr;
  };
  PeerSlots(const cuda::Functions& cuda, const MoveEnd& from, const MoveEnd& to, size_t bytes)
      : cuda_(cuda), bytes_(bytes), halves_{{from}, {to}} {}
  bool open();
  bool enter(Half& half);
  bool allocate(Half& half);
  bool import(Half& half);
  void close(Half& half);

  const cuda::Functions& cuda_;
  const size_t bytes_;
  Half halves_[2];  // the source's, the destination's
  cuda::Stream stream_ = nullptr;
};

}  // namespace gt::virt
