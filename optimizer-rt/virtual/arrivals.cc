#include "optimizer-rt/virtual/arrivals.h"

#include <algorithm>

#include "optimizer-rt/virtual/event.h"

namespace gt::virt {

void Arrivals::add(_cl_event& event, const void* begin, size_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const std::lock_guard lock(mutex_);
  event.arrives = true;
  ranges_.push_back({&event, at, at + bytes});
  count_ = ranges_.size();
}

void Arrivals::remove(const _cl_event& event) {
  const std::lock_guard lock(mutex_);
  std::erase_if(ranges_, [&event](const Range& r) { return r.event == &event; });
  count_ = ranges_.size();
}

bool Arrivals::meet(const void* begin, size_t bytes, const _cl_event* but) {
  if (count_.load(std::memory_order_acquire) == 0) return false;
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const std::lock_guard lock(mutex_);
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& r) { return r.event != but && at < r.end && r.begin < at + bytes; });
}

Arrivals& arrivals() {
  static auto* const all = new Arrivals;
  return *all;
}

}  // namespace gt::virt
