// One block of host memory under one policy.
#include "transport/memory/host_block.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace gt::memory {

using model::Policy;

Result<HostBlock> HostBlock::make(const ClPlace& place, Policy policy, size_t bytes) {
  HostBlock block;
  block.x_place = &place;
  block.x_policy = policy;
  block.x_bytes = bytes;
  GT_TRY(block.obtain());
  std::memset(block.x_data, 1, bytes);
  GT_TRY(block.pin());
  return block;
}

Status HostBlock::obtain() {
  if (x_policy == Policy::OpenCl) {
    const cl_int err =
        map_driver_memory(x_place->cl, x_place->context, x_place->queue, x_bytes, &x_driver);
    if (err != CL_SUCCESS) return Status(Kind::OpenCl, "CL_MEM_ALLOC_HOST_PTR refused", err);
    x_data = x_driver.base;
    return {};
  }
  x_data = x_policy == Policy::Standard ? std::malloc(x_bytes) : map_huge(x_bytes);
  return x_data ? Status() : system_error("cannot allocate", ENOMEM);
}

Status HostBlock::pin() {
  if (x_policy == Policy::Locked || x_policy == Policy::Hybrid) {
    if (const int err = lock_range(x_data, x_bytes)) return system_error("mlock", err);
    x_locked = true;
  }
  if (x_policy == Policy::Pin || x_policy == Policy::Hybrid) {
    const cl_int err = pin_in_place(x_place->cl, x_place->context, x_data, x_bytes, &x_pin);
    if (err != CL_SUCCESS) return Status(Kind::OpenCl, "CL_MEM_USE_HOST_PTR refused", err);
  }
  return {};
}

HostBlock::~HostBlock() {
  if (!x_data) return;
  unpin(x_place->cl, x_pin);
  if (x_policy == Policy::OpenCl) {
    unmap_driver_memory(x_place->cl, x_place->queue, &x_driver);
  } else if (x_policy == Policy::Standard) {
    std::free(x_data);
  } else {
    unmap_huge(x_data, x_bytes);  // unlocks
  }
}

void HostBlock::swap(HostBlock& other) noexcept {
  std::swap(x_place, other.x_place);
  std::swap(x_policy, other.x_policy);
  std::swap(x_bytes, other.x_bytes);
  std::swap(x_data, other.x_data);
  std::swap(x_locked, other.x_locked);
  std::swap(x_pin, other.x_pin);
  std::swap(x_driver, other.x_driver);
}

}  // namespace gt::memory
