#include "optimizer-rt/goptimize/touch_costs.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "traces/base/clock.h"

namespace gt::opt {
namespace {

constexpr size_t Huge = size_t{2} << 20, Bytes = 2 * Huge;

double ns_per_byte(void* at) {
  const uint64_t start = monotonic_ns();
  std::memset(at, 1, Bytes);
  return static_cast<double>(monotonic_ns() - start) / static_cast<double>(Bytes);
}

// The first touch of pages as `advice` has them; then `*warm`. 0: there are none.
double first_touch(int advice, double* warm) {
  void* const map = ::mmap(nullptr, Bytes + Huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return 0;
  void* const at = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(map) + Huge - 1) & ~(Huge - 1));
  ::madvise(at, Bytes, advice);
  const double first = ns_per_byte(at);
  *warm = ns_per_byte(at);
  ::munmap(map, Bytes + Huge);
  return first;
}

double saved_s(double than_ns, double ns, uint64_t bytes) {
  return std::max(0.0, than_ns - ns) * static_cast<double>(bytes) * 1e-9;
}

}  // namespace

// The better of two, for whatever else runs here.
TouchCosts measure_touch() {
  TouchCosts costs{1e9, 1e9, 1e9};
  for (int i = 0; i < 2; ++i) {
    double warm = 0;
    costs.ordinary = std::min(costs.ordinary, first_touch(MADV_NOHUGEPAGE, &warm));
    costs.huge = std::min(costs.huge, first_touch(MADV_HUGEPAGE, &warm));
    costs.warm = std::min(costs.warm, warm);
  }
  return costs.ordinary > 0 && costs.huge > 0 ? costs : TouchCosts{};
}

double touching_saved_s(const TouchCosts& costs, uint64_t filled_bytes, uint64_t kept_bytes) {
  return saved_s(costs.ordinary, costs.huge, filled_bytes) + saved_s(costs.ordinary, costs.warm, kept_bytes);
}

}  // namespace gt::opt
