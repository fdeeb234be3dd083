// The mechanisms of pin.h.
#include "transport/memory/pin.h"

#include <errno.h>
#include <sys/mman.h>

#include <cstdint>

namespace gt::memory {
namespace {

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

void* map_huge(size_t bytes) noexcept {
  if (bytes == 0 || bytes > SIZE_MAX / 2) return nullptr;
  const size_t want = round_up(bytes, HugePage);
  // One huge page more than asked, then the unaligned ends go back.
  void* raw =
      ::mmap(nullptr, want + HugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t base = round_up(start, HugePage);
  if (base > start) ::munmap(raw, base - start);
  const size_t tail = start + HugePage - base;
  if (tail > 0) ::munmap(reinterpret_cast<void*>(base + want), tail);
  // Smaller blocks would pay for clearing a whole huge page.
  if (bytes >= HugePage) ::madvise(reinterpret_cast<void*>(base), want, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(base);
}

void unmap_huge(void* base, size_t bytes) noexcept {
  if (base) ::munmap(base, round_up(bytes, HugePage));
}

int lock_range(void* base, size_t bytes) noexcept { return ::mlock(base, bytes) == 0 ? 0 : errno; }

cl_int pin_in_place(const ClFunctions& cl, cl_context context, void* base, size_t bytes,
                    cl_mem* out) noexcept {
  cl_int err = CL_SUCCESS;
  *out = cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, base, &err);
  if (err == CL_SUCCESS && !*out) err = CL_OUT_OF_HOST_MEMORY;
  if (err != CL_SUCCESS) *out = nullptr;
  return err;
}

void unpin(const ClFunctions& cl, cl_mem pin) noexcept {
  if (pin) cl.clReleaseMemObject(pin);
}

cl_int map_driver_memory(const ClFunctions& cl, cl_context context, cl_command_queue queue,
                         size_t bytes, DriverMemory* out) noexcept {
  *out = {};
  cl_int err = CL_SUCCESS;
  cl_mem mem =
      cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &err);
  if (err != CL_SUCCESS || !mem) return err != CL_SUCCESS ? err : CL_OUT_OF_HOST_MEMORY;
  void* base = cl.clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                     nullptr, nullptr, &err);
  if (err != CL_SUCCESS || !base) {
    cl.clReleaseMemObject(mem);
    return err != CL_SUCCESS ? err : CL_MAP_FAILURE;
  }
  *out = {mem, base, bytes};
  return CL_SUCCESS;
}

void unmap_driver_memory(const ClFunctions& cl, cl_command_queue queue, DriverMemory* memory) noexcept {
  if (!memory->mem) return;
  if (cl.clEnqueueUnmapMemObject(queue, memory->mem, memory->base, 0, nullptr, nullptr) ==
      CL_SUCCESS)
    cl.clFinish(queue);
  cl.clReleaseMemObject(memory->mem);
  *memory = {};
}

}  // namespace gt::memory
