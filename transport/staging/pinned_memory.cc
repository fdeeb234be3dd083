#include "transport/staging/pinned_memory.h"

#include "transport/memory/pin.h"

namespace gt::staging {

bool PinnedMemory::open(const ClFunctions& cl, CopyThreads& copy_threads, cl_context context, size_t bytes) noexcept {
  void* base = memory::map_huge(bytes);
  if (!base) return false;
  copy_threads.populate(static_cast<char*>(base), bytes);  // pinning finds the pages there, instead of making each
  cl_int err = CL_SUCCESS;
  pin_ = cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, base, &err);
  if (err != CL_SUCCESS || !pin_) {
    memory::unmap_huge(base, bytes);
    pin_ = nullptr;
    return false;
  }
  base_ = static_cast<char*>(base);
  bytes_ = bytes;
  return true;
}

void PinnedMemory::close(const ClFunctions& cl) noexcept {
  if (!base_) return;
  cl.clReleaseMemObject(pin_);
  memory::unmap_huge(base_, bytes_);
  *this = PinnedMemory();
}

}  // namespace gt::staging
