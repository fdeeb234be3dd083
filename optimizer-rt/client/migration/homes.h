// Buffers that go from device to device often come to live in memory of CUDA's on both (peer_memory.h), where a move is
// one step instead of three: not from the beginning, since nobody knows then which they are, making such memory takes
// 300 us and at least 2 MiB (docs/decisions/0022).
//
// A home takes the place of the driver's buffer: the same object of the program's, another native one, of which the
// executor is told the name. Commands that have been sent go on with the one before. What shares a buffer's memory,
// sub-buffers and images, shares the driver's.
#pragma once

#include <utility>

#include "optimizer-rt/client/objects/mem.h"
#include "transport/moves/native_moves.h"

namespace gt::virt {

// A reference to a driver's buffer.
class NativeMem {
 public:
  NativeMem() = default;
  NativeMem(const moves::Cl& cl, cl_mem mem) : cl_(&cl), mem_(mem) {
    if (mem_) cl_->clRetainMemObject(mem_);
  }
  NativeMem(NativeMem&& other) noexcept : cl_(other.cl_), mem_(std::exchange(other.mem_, nullptr)) {}
  NativeMem& operator=(NativeMem&& other) noexcept {
    std::swap(cl_, other.cl_);
    std::swap(mem_, other.mem_);
    return *this;
  }
  ~NativeMem() {
    if (mem_) cl_->clReleaseMemObject(mem_);
  }
  cl_mem get() const { return mem_; }
  explicit operator bool() const { return mem_ != nullptr; }

 private:
  const moves::Cl* cl_ = nullptr;
  cl_mem mem_ = nullptr;
};

// What the driver has for the object there; none: it could not be made. REQUIRES: an executor of this process.
NativeMem native_mem(_cl_mem& mem, Place& place);

// Counts a move that is about to be made, and has the buffer live in homes from now on where that is worth it.
// REQUIRES: the context's residency is locked.
void give_homes(_cl_mem& root, Place& from, Place& to, NativeMoves& way);

// It lives in the driver's memory again, and will: NVIDIA's driver makes images of imported memory that it then refuses
// to write. REQUIRES: as above.
void leave_homes(_cl_mem& root);

}  // namespace gt::virt
