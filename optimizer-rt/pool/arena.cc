// Reserving and growing an arena.
#include "optimizer-rt/pool/arena.h"

#include <algorithm>

#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {
namespace {

constexpr size_t GrowStep = size_t{32} << 20;  // few, large mprotect calls

constexpr size_t round_down(size_t n, size_t unit) { return n / unit * unit; }
constexpr size_t round_up(size_t n, size_t unit) { return round_down(n + unit - 1, unit); }

}  // namespace

void Arena::publish(uintptr_t base, size_t bytes) noexcept {
  x_base.store(base, std::memory_order_relaxed);
  x_size.store(bytes, std::memory_order_release);  // owns() answers false until here
}

bool Arena::reserve(size_t bytes, size_t least) noexcept {
  for (size_t want = round_down(bytes, HugePage); want >= least && want > 0;
       want = round_down(want / 2, HugePage)) {
    void* raw = system_memory.map(want + HugePage, PROT_NONE);
    if (raw == MAP_FAILED) continue;
    const uintptr_t base = round_up(reinterpret_cast<uintptr_t>(raw), HugePage);
    // Before any page exists, so that later mprotect calls extend one mapping. Refusal only costs
    // speed.
    system_memory.advise(reinterpret_cast<void*>(base), want, MADV_HUGEPAGE);
    publish(base, want);
    return true;
  }
  return false;
}

bool Arena::adopt(void* memory, size_t bytes) noexcept {
  const auto start = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t base = round_up(start, HugePage);
  if (bytes < base - start + HugePage) return false;
  x_usable = round_down(bytes - (base - start), HugePage);
  x_adopted = true;
  publish(base, x_usable);
  return true;
}

bool Arena::grow(size_t bytes) noexcept {
  if (bytes <= x_usable) return true;
  if (bytes > size()) return false;
  const size_t target = std::min(round_up(bytes, GrowStep), size());
  if (system_memory.protect(base() + x_usable, target - x_usable, PROT_READ | PROT_WRITE) != 0) return false;
  x_usable = target;
  return true;
}

}  // namespace gt::opt
