#include "tracer/lib/bare_kernels.h"

#include <array>
#include <atomic>
#include <utility>

#include "tracer/lib/trampoline.h"

namespace gt::tracer {

namespace {

// Used again as late as possible and kept until then, as registrations are.
struct Place {
  std::atomic<uint64_t> id{0};  // of the registration; 0: free
  std::atomic<Registration*> registration{nullptr};
};
Place g_places[MaxBareKernels];
std::atomic<size_t> g_next{0};

void free_place(Place& place, uint64_t id) { place.id.compare_exchange_strong(id, 0, std::memory_order_release); }

void run(Place& place, void* drivers) {
  const uint64_t id = place.id.load(std::memory_order_acquire);
  Registration& registration = *place.registration.load(std::memory_order_relaxed);
  const detail::Called callback = detail::called(registration, CallbackFn::NativeKernel);
  free_place(place, id);
  const auto function = reinterpret_cast<NativeFn>(callback.function);
  detail::invoke<CallbackFn::NativeKernel>(
      callback, __builtin_frame_address(0), [&] { function(drivers); }, size_t{0});
}

template <size_t I>
void CL_CALLBACK bare_kernel(void* drivers) {
  run(g_places[I], drivers);
}

constexpr auto Functions = []<size_t... I>(std::index_sequence<I...>) {
  return std::array<NativeFn, sizeof...(I)>{&bare_kernel<I>...};
}
(std::make_index_sequence<MaxBareKernels>{});

}  // namespace

NativeFn take_bare_kernel(Registration& registration) {
  const uint64_t id = registration.id.load(std::memory_order_relaxed);
  for (size_t tries = 0; tries < MaxBareKernels; ++tries) {
    const size_t i = g_next.fetch_add(1, std::memory_order_relaxed) % MaxBareKernels;
    uint64_t free = 0;
    if (!g_places[i].id.compare_exchange_strong(free, id, std::memory_order_acquire)) continue;
    g_places[i].registration.store(&registration, std::memory_order_relaxed);
    return Functions[i];
  }
  return nullptr;
}

void free_bare_kernel(uint64_t id) {
  for (Place& place : g_places) free_place(place, id);
}

}  // namespace gt::tracer
