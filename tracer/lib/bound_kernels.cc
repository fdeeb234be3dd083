#include "tracer/lib/bound_kernels.h"

#include <cstring>

#include "tracer/lib/fixed_table.h"
#include "tracer/lib/real_calls.h"

namespace gt::tracer {

using detail::Binding;
using detail::MostBound;

namespace {

struct BoundKernel {
  std::atomic<uintptr_t> key{0};
  std::atomic<int> references{0};
  std::atomic<bool> whole{false};  // there is no argument beyond MostBound
  Binding bindings[MostBound];
  void begin() {
    references.store(1, std::memory_order_relaxed);
    whole.store(true, std::memory_order_relaxed);
    for (Binding& b : bindings) b.kind.store(Binding::Nothing, std::memory_order_relaxed);
  }
};

FixedTable<LiveObject, 16384> g_objects;
FixedTable<LiveAllocation, 1024> g_allocations;
FixedTable<BoundKernel, 2048> g_kernels;

template <class Table>
void count(Table& table, const void* handle, int change) {
  auto* const known = table.find(handle);
  if (known && known->references.fetch_add(change, std::memory_order_relaxed) + change <= 0) table.remove(handle);
}

void bind(cl_kernel kernel, cl_uint index, Binding::Kind kind, uint64_t value) {
  BoundKernel* known = g_kernels.find(kernel);
  if (!known) known = g_kernels.add(kernel);  // it was made while nothing was recorded
  if (!known) return;
  if (index >= MostBound) return known->whole.store(false, std::memory_order_relaxed);
  known->bindings[index].value.store(value, std::memory_order_relaxed);
  known->bindings[index].kind.store(kind, std::memory_order_relaxed);
}

}  // namespace

void note_object(cl_mem object, api::ObjectKind kind) noexcept {
  if (LiveObject* const made = g_objects.add(object)) made->kind.store(kind, std::memory_order_relaxed);
}
void count_references(cl_mem object, int change) noexcept { count(g_objects, object, change); }
LiveObject* live_object(cl_mem object) noexcept { return g_objects.find(object); }

void note_allocation(const void* p, size_t size, bool usm) noexcept {
  LiveAllocation* const made = g_allocations.add(p);
  if (!made) return;
  made->usm.store(usm, std::memory_order_relaxed);
  made->size.store(size, std::memory_order_relaxed);
}
void forget_allocation(const void* p) noexcept { g_allocations.remove(p); }
LiveAllocation* live_allocation(const void* p) noexcept {
  if (LiveAllocation* const begins = g_allocations.find(p)) return begins;
  const auto at = reinterpret_cast<uintptr_t>(p);
  LiveAllocation* found = nullptr;
  g_allocations.for_each([&](LiveAllocation& a) {
    const uintptr_t begin = a.key.load(std::memory_order_relaxed);
    if (begin <= at && at - begin < a.size.load(std::memory_order_relaxed)) found = &a;
  });
  return found;
}

void note_kernel(cl_kernel kernel) noexcept { g_kernels.add(kernel); }
void copy_kernel(cl_kernel from, cl_kernel to) noexcept {
  BoundKernel* const made = g_kernels.add(to);
  const BoundKernel* const old = g_kernels.find(from);
  if (!made || !old) return;
  made->whole.store(old->whole.load(std::memory_order_relaxed), std::memory_order_relaxed);
  for (cl_uint i = 0; i < MostBound; ++i) {
    made->bindings[i].value.store(old->bindings[i].value.load(std::memory_order_relaxed), std::memory_order_relaxed);
    made->bindings[i].kind.store(old->bindings[i].kind.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}
void count_references(cl_kernel kernel, int change) noexcept { count(g_kernels, kernel, change); }

void bind_word(cl_kernel kernel, cl_uint index, uint64_t word) noexcept {
  bind(kernel, index, word != 0 ? Binding::Word : Binding::Nothing, word);
}
void bind_pointer(cl_kernel kernel, cl_uint index, const void* p) noexcept {
  bind(kernel, index, p ? Binding::Pointer : Binding::Nothing, reinterpret_cast<uintptr_t>(p));
}

bool kernel_is_named(cl_kernel kernel, const char* name) noexcept {
  const auto get = real<decltype(clGetKernelInfo)>(api::FnId::clGetKernelInfo);
  char text[512];  // a longer name is none that was asked for
  return get && get(kernel, CL_KERNEL_FUNCTION_NAME, sizeof text, text, nullptr) == CL_SUCCESS &&
         std::strcmp(text, name) == 0;
}

namespace detail {

const Binding* bindings_of(cl_kernel kernel, bool& whole) noexcept {
  const BoundKernel* const known = g_kernels.find(kernel);
  whole = !g_objects.overflowed() && !g_allocations.overflowed() &&
          (known ? known->whole.load(std::memory_order_relaxed) : !g_kernels.overflowed());
  return known ? known->bindings : nullptr;
}

}  // namespace detail

}  // namespace gt::tracer
