#include "optimizer-rt/cl/drivers_memory.h"

#include <algorithm>
#include <cstdint>

#include "optimizer-rt/cl/counted_handles.h"
#include "optimizer-rt/cl/svm_memory.h"

namespace gt::opt {
namespace {

constexpr size_t Most = 256;
struct Span {
  const void* base = nullptr;
  size_t bytes = 0;

  bool holds(const HostRange& range) const noexcept {
    const auto begin = reinterpret_cast<uintptr_t>(base), at = reinterpret_cast<uintptr_t>(range.base);
    return at >= begin && at - begin <= bytes && range.span <= bytes - (at - begin);
  }
};
constinit CountedHandles<const void*, size_t, Most> g_maps;  // bytes, by where they begin
constinit CountedHandles<cl_mem, Span, Most> g_buffers;      // what they lie over

}  // namespace

void memory_mapped(const void* p, size_t bytes) noexcept {
  const bool again = g_maps.change(p, [&](auto& map) {
    ++map.references;
    map.facts = std::max(map.facts, bytes);
  });
  if (!again) g_maps.add(p, bytes);
}
void memory_unmapped(const void* p) noexcept {
  size_t bytes = 0;
  g_maps.release(p, &bytes);
}

void buffer_made_over(cl_mem buffer, const void* host, size_t bytes) noexcept { g_buffers.add(buffer, {host, bytes}); }
void buffer_over_retained(cl_mem mem) noexcept { g_buffers.retain(mem); }
void buffer_over_releasing(cl_mem mem) noexcept {
  Span under;
  g_buffers.release(mem, &under);
}

bool is_drivers(const HostRange& range) noexcept {
  return g_maps.any([&](const auto& map) { return Span{map.handle, map.facts}.holds(range); }) ||
         g_buffers.any([&](const auto& buffer) { return buffer.facts.holds(range); }) || is_svm(range.base);
}

// Held from one call to the next.
void lock_drivers_memory() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  g_maps.lock();
  g_buffers.lock();
}
void unlock_drivers_memory() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  g_buffers.unlock();
  g_maps.unlock();
}

}  // namespace gt::opt
