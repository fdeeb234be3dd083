// How contents move between drivers of this process: their buffers, and the way from one sub-context to another. The
// only place where commands go to a driver past its executor: docs/decisions/0030 says why.
// REQUIRES, everywhere: executors of this process.
// Thread safety: any thread, where nothing else is said; no handler of a link: native_mem() may wait until the executor
// has taken in what was sent.
#pragma once

#include <utility>

#include "optimizer-rt/client/memory/mem.h"
#include "transport/moves/native_moves.h"

namespace gt::virt {

// A reference to a driver's buffer.
class NativeMem {
 public:
  NativeMem() = default;
  NativeMem(const ClFunctions& cl, cl_mem mem) : cl_(&cl), mem_(mem) {
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
  const ClFunctions* cl_ = nullptr;
  cl_mem mem_ = nullptr;
};

// What the driver has for the object there; none: it could not be made.
NativeMem native_mem(_cl_mem& mem, SubContext& sub_context);
// Gives a driver's buffer a name there that is new; the executor has a reference of its own. False: it may not have one
// more.
bool name_native(cl_mem buffer, SubContext& sub_context, ObjectId name);

// Made when first needed; lives as long as the context. REQUIRES: the context's residency is locked.
NativeWay& way_between(SubContext& from, SubContext& to);

}  // namespace gt::virt
