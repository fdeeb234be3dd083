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
      : x_cl(cl), x_context(context), x_base(base), x_bytes(bytes) {
    cl.clRetainContext(context);
  }
  ~SvmBlock() {
    x_cl.clSVMFree(x_context, x_base);
    x_cl.clReleaseContext(x_context);
  }
  SvmBlock(const SvmBlock&) = delete;
  SvmBlock& operator=(const SvmBlock&) = delete;

  cl_context context() const { return x_context; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(x_base); }
  uint64_t bytes() const { return x_bytes; }
  // Its end is in it, too: programs hand kernels the address behind their last byte.
  bool holds(uint64_t address, uint64_t length) const {
    const uint64_t at = address - this->address();
    return address >= this->address() && at <= x_bytes && length <= x_bytes - at;
  }
  void* at(uint64_t offset) const { return static_cast<char*>(x_base) + offset; }

 private:
  const Cl& x_cl;
  const cl_context x_context;
  void* const x_base;
  const uint64_t x_bytes;
};

}  // namespace gt::exec
