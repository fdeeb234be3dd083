#include "optimizer-rt/client/session/registered_memory.h"

#include <algorithm>

namespace gt::virt {

std::optional<wire::Address> RegisteredMemory::use(wire::Link& link, const void* p, size_t bytes) {
  const Optimizer* const memory = optimizer();
  SharedSpan span;
  if (!memory || !memory->find(p, bytes, &span)) return {};
  const auto* const at = static_cast<const char*>(p);
  std::optional<wire::Address> address = use_registered(at, bytes);
  if (!address) {
    const MutexLock lock(registering_);
    address = use_registered(at, bytes);  // by a thread that was here before
    if (!address && !refused_ && register_span(link, span)) address = use_registered(at, bytes);
  }
  address ? memory->moved(p, bytes) : memory->refused();
  return address;
}

std::optional<wire::Address> RegisteredMemory::use_registered(const char* p, size_t bytes) {
  const MutexLock lock(mutex_);
  const auto it =
      std::find_if(registered_.begin(), registered_.end(), [&](const Registered& e) { return e.holds(p, bytes); });
  if (it == registered_.end()) return {};
  registered_.splice(registered_.begin(), registered_, it);
  ++it->users;
  return wire::Address{it->segment, static_cast<uint64_t>(p - it->base)};
}

// An executor that cannot map it will not be asked again.
bool RegisteredMemory::register_span(wire::Link& link, const SharedSpan& span) {
  {
    const MutexLock lock(mutex_);
    if (registered_.size() >= Most) return false;
  }
  const Result<wire::SegmentId> segment = link.expose_shared(span.file, span.offset, span.base, span.bytes);
  refused_ = !segment.ok() || !link.shared_address(span.base, span.bytes);
  if (refused_ && segment.ok()) (void)link.withdraw(*segment).ok();
  if (refused_) return false;
  const MutexLock lock(mutex_);
  registered_.push_front({*segment, span.base, span.bytes, 0});
  return true;
}

void RegisteredMemory::let_go(wire::SegmentId segment) {
  const MutexLock lock(mutex_);
  const auto is_it = [segment](const Registered& e) { return e.segment == segment; };
  const auto it = std::find_if(registered_.begin(), registered_.end(), is_it);
  if (it != registered_.end()) --it->users;
}

bool RegisteredMemory::cover(const void* p) {
  const MutexLock lock(mutex_);
  const auto* const at = static_cast<const char*>(p);
  return std::any_of(registered_.begin(), registered_.end(), [at](const Registered& e) { return e.holds(at, 1); });
}

bool RegisteredMemory::deregister(wire::Link& link, const void* base, size_t bytes) {
  const auto* const from = static_cast<const char*>(base);
  std::list<Registered> gone;
  {
    const MutexLock lock(mutex_);
    const auto in_use = [&](const Registered& e) { return e.overlaps(from, bytes) && e.users > 0; };
    if (std::any_of(registered_.begin(), registered_.end(), in_use)) return false;
    for (auto it = registered_.begin(); it != registered_.end();) {
      const auto next = std::next(it);
      if (it->overlaps(from, bytes)) gone.splice(gone.end(), registered_, it);
      it = next;
    }
  }
  for (const Registered& e : gone)
    (void)link.withdraw(e.segment).ok();  // of a link that is closed nobody maps it either
  return true;
}

}  // namespace gt::virt
