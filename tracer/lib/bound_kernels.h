// What is bound to kernels, and which memory is alive: what a launch may read and write on the device.
//
// Kept only where data is read back from the device (capture_choice.h). An argument of the size of a handle may be one:
// it counts as a memory object when such a one is alive.
// Thread safety: any thread; no lock, no allocation.
#pragma once

#include <CL/cl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "traces/api/roles.h"

namespace gt::tracer {

struct LiveObject {
  std::atomic<uintptr_t> key{0};  // its handle
  std::atomic<int> references{0};
  std::atomic<api::ObjectKind> kind{};
  std::atomic<bool> kept{false};  // what it held before a chosen call was read, or is being read
  void begin() {
    references.store(1, std::memory_order_relaxed);
    kept.store(false, std::memory_order_relaxed);
  }
};
struct LiveAllocation {
  std::atomic<uintptr_t> key{0};  // where it begins
  std::atomic<size_t> size{0};
  std::atomic<bool> usm{false};   // from cl_intel_unified_shared_memory
  std::atomic<bool> kept{false};
  void begin() { kept.store(false, std::memory_order_relaxed); }
};

void note_object(cl_mem object, api::ObjectKind kind) noexcept;
void count_references(cl_mem object, int change) noexcept;
LiveObject* live_object(cl_mem object) noexcept;  // nullptr: it is none, as far as is known

void note_allocation(const void* p, size_t size, bool usm) noexcept;
void forget_allocation(const void* p) noexcept;
LiveAllocation* live_allocation(const void* p) noexcept;  // that p lies in

void note_kernel(cl_kernel kernel) noexcept;
void copy_kernel(cl_kernel from, cl_kernel to) noexcept;
void count_references(cl_kernel kernel, int change) noexcept;
void bind_word(cl_kernel kernel, cl_uint index, uint64_t word) noexcept;       // a value; 0: one that is no handle
void bind_pointer(cl_kernel kernel, cl_uint index, const void* p) noexcept;
bool kernel_is_named(cl_kernel kernel, const char* name) noexcept;

// Of a kernel, each once: visit_object(LiveObject&), visit_allocation(LiveAllocation&). False: some are not known.
namespace detail {
struct Binding {
  enum Kind : uint32_t { Nothing, Word, Pointer };
  std::atomic<uint64_t> value{0};
  std::atomic<Kind> kind{Nothing};
};
constexpr cl_uint MostBound = 64;
const Binding* bindings_of(cl_kernel kernel, bool& whole) noexcept;
}  // namespace detail

template <class Object, class Allocation>
bool each_bound(cl_kernel kernel, Object visit_object, Allocation visit_allocation) {
  bool whole = true;
  const detail::Binding* const bindings = detail::bindings_of(kernel, whole);
  if (!bindings) return whole;
  for (cl_uint i = 0; i < detail::MostBound; ++i) {
    const uint64_t value = bindings[i].value.load(std::memory_order_relaxed);
    const auto kind = bindings[i].kind.load(std::memory_order_relaxed);
    bool before = false;
    for (cl_uint k = 0; k < i && kind != detail::Binding::Nothing; ++k)
      before |= bindings[k].kind.load(std::memory_order_relaxed) == kind && bindings[k].value.load() == value;
    if (before) continue;
    if (kind == detail::Binding::Word) {
      if (LiveObject* object = live_object(reinterpret_cast<cl_mem>(value))) visit_object(*object);
    } else if (kind == detail::Binding::Pointer) {
      if (LiveAllocation* memory = live_allocation(reinterpret_cast<const void*>(value))) visit_allocation(*memory);
    }
  }
  return whole;
}

}  // namespace gt::tracer
