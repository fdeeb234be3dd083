#include "optimizer-rt/client/objects/arrivals.h"

#include <algorithm>

namespace gt::virt {
namespace {

bool of_one_device(const Bringer& a, const Bringer& b) {
  return a.device && a.device == b.device && a.context == b.context;
}

}  // namespace

void Arrivals::add(const Bringer& command, const void* begin, size_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const std::lock_guard lock(mutex_);
  ranges_.push_back({command, at, at + bytes});
  count_ = ranges_.size();
}

void Arrivals::remove(const _cl_event& event) {
  const std::lock_guard lock(mutex_);
  std::erase_if(ranges_, [&event](const Range& r) { return r.command.event == &event; });
  count_ = ranges_.size();
}

void Arrivals::comes_by(const _cl_event& event, By by) {
  const std::lock_guard lock(mutex_);
  for (Range& r : ranges_)
    if (r.command.event == &event) r.by = by;
}

template <class Matters>
bool Arrivals::any_meets(const void* begin, size_t bytes, Matters matters) {
  if (count_.load(std::memory_order_acquire) == 0) return false;
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const std::lock_guard lock(mutex_);
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& r) { return at < r.end && r.begin < at + bytes && matters(r); });
}

bool Arrivals::meet(const void* begin, size_t bytes) {
  return any_meets(begin, bytes, [](const Range&) { return true; });
}

bool Arrivals::could_overtake(const Bringer& command, By by, const void* begin, size_t bytes) {
  return any_meets(begin, bytes, [&](const Range& before) {
    if (before.command.event == command.event || before.by == By::Device) return false;
    return before.by != By::Link || by != By::Link || !of_one_device(before.command, command);
  });
}

Arrivals& arrivals() {
  static auto* const all = new Arrivals;
  return *all;
}

}  // namespace gt::virt
