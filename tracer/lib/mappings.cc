#include "tracer/lib/mappings.h"

#include <atomic>
#include <cstdint>

namespace gt::tracer {

namespace {

constexpr uintptr_t Free = 0, Busy = 1;
constexpr size_t Places = 4096, Near = 32;

struct Place {
  std::atomic<uintptr_t> address{Free};
  Mapping mapping;  // its owner's who made it Busy
};
Place g_places[Places];

// Calls visit(place) for each place where `address` may be, until one gives true.
template <class Visit>
bool any_near(uintptr_t address, Visit visit) {
  const size_t home = (address >> 6) * 0x9e3779b97f4a7c15u >> 32;
  for (size_t i = 0; i < Near; ++i) {
    if (visit(g_places[(home + i) % Places])) return true;
  }
  return false;
}

}  // namespace

void note_mapping(const void* p, const Mapping& mapping) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(p);
  any_near(address, [&](Place& place) {
    uintptr_t free = Free;
    if (!place.address.compare_exchange_strong(free, Busy, std::memory_order_acquire)) return false;
    place.mapping = mapping;
    place.address.store(address, std::memory_order_release);
    return true;
  });
}

bool take_mapping(const void* p, Mapping& mapping) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return any_near(address, [&](Place& place) {
    uintptr_t ours = address;
    if (address <= Busy || !place.address.compare_exchange_strong(ours, Busy, std::memory_order_acquire)) return false;
    mapping = place.mapping;
    place.address.store(Free, std::memory_order_release);
    return true;
  });
}

}  // namespace gt::tracer
