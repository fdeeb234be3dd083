#include "transport/staging/pinned_memory.h"

#include "transport/memory/pin.h"

namespace gt::staging {

bool PinnedMemory::open(const ClFunctions& cl, CopyThreads& copy_threads, cl_context context, size_t bytes) noexcept {
  void* base = memory::map_huge(bytes);
  if (!base) return false;
  copy_threads.populate(static_cast<char*>(base), bytes);  // pinning finds the pages there, instead of making each
  cl_int err = CL_SUCCESS;
  x_pin = cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, base, &err);
  if (err != CL_SUCCESS || !x_pin) {
    memory::unmap_huge(base, bytes);
    x_pin = nullptr;
    return false;
  }
  x_base = static_cast<char*>(base);
  x_bytes = bytes;
  return true;
}

void PinnedMemory::close(const ClFunctions& cl) noexcept {
  if (!x_base) return;
  cl.clReleaseMemObject(x_pin);
  memory::unmap_huge(x_base, x_bytes);
  *this = PinnedMemory();
}

}  // namespace gt::staging
