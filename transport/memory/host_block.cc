// One block of host memory under one policy.
#include "transport/memory/host_block.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace gt::memory {

using model::Policy;

Result<HostBlock> HostBlock::make(const ClPlace& place, Policy policy, size_t bytes) {
  HostBlock block;
  block.place_ = &place;
  block.policy_ = policy;
  block.bytes_ = bytes;
  GT_TRY(block.obtain());
  std::memset(block.data_, 1, bytes);
  GT_TRY(block.pin());
  return block;
}

Status HostBlock::obtain() {
  if (policy_ == Policy::OpenCl) {
    const cl_int err =
        map_driver_memory(place_->cl, place_->context, place_->queue, bytes_, &driver_);
    if (err != CL_SUCCESS) return Status(Kind::OpenCl, "CL_MEM_ALLOC_HOST_PTR refused", err);
    data_ = driver_.base;
    return {};
  }
  data_ = policy_ == Policy::Standard ? std::malloc(bytes_) : map_huge(bytes_);
  return data_ ? Status() : system_error("cannot allocate", ENOMEM);
}

Status HostBlock::pin() {
  if (policy_ == Policy::Locked || policy_ == Policy::Hybrid) {
    if (const int err = lock_range(data_, bytes_)) return system_error("mlock", err);
    locked_ = true;
  }
  if (policy_ == Policy::Pin || policy_ == Policy::Hybrid) {
    const cl_int err = pin_in_place(place_->cl, place_->context, data_, bytes_, &pin_);
    if (err != CL_SUCCESS) return Status(Kind::OpenCl, "CL_MEM_USE_HOST_PTR refused", err);
  }
  return {};
}

HostBlock::~HostBlock() {
  if (!data_) return;
  unpin(place_->cl, pin_);
  if (policy_ == Policy::OpenCl) {
    unmap_driver_memory(place_->cl, place_->queue, &driver_);
  } else if (policy_ == Policy::Standard) {
    std::free(data_);
  } else {
    unmap_huge(data_, bytes_);  // unlocks
  }
}

void HostBlock::swap(HostBlock& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(policy_, other.policy_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
  std::swap(locked_, other.locked_);
  std::swap(pin_, other.pin_);
  std::swap(driver_, other.driver_);
}

}  // namespace gt::memory
