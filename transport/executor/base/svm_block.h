// A block of shared virtual memory that the driver gave, coarse-grained; clients know it by name and by address.
//
// Ownership: gives it back, and the reference to its context, at its end. Buffers over it and transfers under way keep
// it.
// Thread safety: constant.
#pragma once

#include "transport/executor/base/cl.h"

namespace gt::exec {

class SvmBlock {
 public:
  SvmBlock(const Cl& cl, cl_context context, void* base, uint64_t bytes)
      : cl_(cl), context_(context), base_(base), bytes_(bytes) {
    cl.clRetainContext(context);
  }
  ~SvmBlock() {
    cl_.clSVMFree(context_, base_);
    cl_.clReleaseContext(context_);
  }
  SvmBlock(const SvmBlock&) = delete;
  SvmBlock& operator=(const SvmBlock&) = delete;

  cl_context context() const { return context_; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(base_); }
  uint64_t bytes() const { return bytes_; }
  // Its end is in it, too: programs hand kernels the address behind their last byte.
  bool holds(uint64_t address, uint64_t length) const {
    const uint64_t at = address - this->address();
    return address >= this->address() && at <= bytes_ && length <= bytes_ - at;
  }
  void* at(uint64_t offset) const { return static_cast<char*>(base_) + offset; }

 private:
  const Cl& cl_;
  const cl_context context_;
  void* const base_;
  const uint64_t bytes_;
};

}  // namespace gt::exec
