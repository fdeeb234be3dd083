// A block of memory that has one address for client and kernels, given by the driver: coarse-grained shared virtual
// memory, or an allocation of unified shared memory. Clients know it by name and by address.
//
// Ownership: gives it back, and the reference to its context, at its end. Buffers over it and transfers under way keep
// it.
// Thread safety: constant.
#pragma once

#include "transport/executor/base/cl.h"
#include "transport/executor/base/usm_functions.h"

namespace gt::exec {

class SvmBlock {
 public:
  // `usm`: of the driver that gave it; none: it is shared virtual memory.
  SvmBlock(const Cl& cl, cl_context context, void* base, uint64_t bytes, const UsmFunctions& usm = {})
      : cl_(cl), context_(context), base_(base), bytes_(bytes), usm_(usm) {
    cl.clRetainContext(context);
  }
  ~SvmBlock() {
    is_usm() ? static_cast<void>(usm_.free(context_, base_)) : cl_.clSVMFree(context_, base_);
    cl_.clReleaseContext(context_);
  }
  SvmBlock(const SvmBlock&) = delete;
  SvmBlock& operator=(const SvmBlock&) = delete;

  cl_context context() const { return context_; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(base_); }
  uint64_t bytes() const { return bytes_; }
  bool is_usm() const { return usm_.free != nullptr; }
  const UsmFunctions& usm() const { return usm_; }
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
  const UsmFunctions usm_;
};

}  // namespace gt::exec
