#include "optimizer-rt/client/objects/pending_host_writes.h"

#include <algorithm>

namespace gt::virt {
namespace {

bool of_one_device(const HostWriter& a, const HostWriter& b) {
  return a.device && a.device == b.device && a.context == b.context;
}

}  // namespace

void PendingHostWrites::add(const HostWriter& command, const void* begin, size_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const MutexLock lock(mutex_);
  ranges_.push_back({command, at, at + bytes});
  count_ = ranges_.size();
}

void PendingHostWrites::remove(const _cl_event& event) {
  const MutexLock lock(mutex_);
  std::erase_if(ranges_, [&event](const Range& r) { return r.command.event == &event; });
  count_ = ranges_.size();
}

void PendingHostWrites::comes_by(const _cl_event& event, By by) {
  const MutexLock lock(mutex_);
  for (Range& r : ranges_)
    if (r.command.event == &event) r.by = by;
}

template <class Matters>
bool PendingHostWrites::any_overlaps(const void* begin, size_t bytes, Matters matters) {
  if (count_.load(std::memory_order_acquire) == 0) return false;
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const MutexLock lock(mutex_);
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& r) { return at < r.end && r.begin < at + bytes && matters(r); });
}

bool PendingHostWrites::overlap(const void* begin, size_t bytes) {
  return any_overlaps(begin, bytes, [](const Range&) { return true; });
}

bool PendingHostWrites::could_overtake(const HostWriter& command, By by, const void* begin, size_t bytes) {
  return any_overlaps(begin, bytes, [&](const Range& before) {
    if (before.command.event == command.event || before.by == By::Device) return false;
    return before.by != By::Link || by != By::Link || !of_one_device(before.command, command);
  });
}

PendingHostWrites& pending_host_writes() {
  static auto* const all = new PendingHostWrites;
  return *all;
}

}  // namespace gt::virt
