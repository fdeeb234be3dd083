// Memory of ours that the driver reads and writes at the link's full speed: huge pages, pinned in place.
// Thread safety: none. noexcept, allocates nothing else: injected code uses it.
#pragma once

#include <cstddef>

#include "transport/opencl/cl_functions.h"
#include "transport/staging/copy_threads.h"

namespace gt::staging {

class PinnedMemory {
 public:
  constexpr PinnedMemory() = default;

  // The pin is a buffer in `context` and keeps it alive until close(). False: refused, nothing is kept.
  bool open(const ClFunctions& cl, CopyThreads& copy_threads, cl_context context, size_t bytes) noexcept;
  void close(const ClFunctions& cl) noexcept;

  bool is_open() const noexcept { return base_ != nullptr; }
  char* data() const noexcept { return base_; }
  size_t bytes() const noexcept { return bytes_; }

 private:
  char* base_ = nullptr;
  size_t bytes_ = 0;
  cl_mem pin_ = nullptr;
};

}  // namespace gt::staging
