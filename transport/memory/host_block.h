// One block of host memory under one policy, released by its destructor: what gmicrobench measures.
// Thread safety: none.
#pragma once

#include <utility>

#include "traces/base/status.h"
#include "traces/model/platform/policy.h"
#include "transport/memory/pin.h"

namespace gt::memory {

// Where blocks are made known. The handles stay the caller's and outlive every block.
struct ClPlace {
  ClFunctions cl;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

class HostBlock {
 public:
  // The memory is touched (every page written) and pinned where the policy says so.
  static Result<HostBlock> make(const ClPlace& place, model::Policy policy, size_t bytes);

  HostBlock(HostBlock&& other) noexcept { swap(other); }
  HostBlock& operator=(HostBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;
  ~HostBlock();

  void* data() const { return data_; }
  size_t size() const { return bytes_; }

 private:
  HostBlock() = default;
  void swap(HostBlock& other) noexcept;
  Status obtain();
  Status pin();

  const ClPlace* place_ = nullptr;
  model::Policy policy_ = model::Policy::Standard;
  size_t bytes_ = 0;
  void* data_ = nullptr;
  bool locked_ = false;
  cl_mem pin_ = nullptr;
  DriverMemory driver_;
};

}  // namespace gt::memory
