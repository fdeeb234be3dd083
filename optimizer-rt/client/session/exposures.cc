#include "optimizer-rt/client/session/exposures.h"

#include <algorithm>

namespace gt::virt {

std::optional<wire::Address> Exposures::use(wire::Link& link, const void* p, size_t bytes) {
  const Optimizer* const memory = optimizer();
  SharedSpan span;
  if (!memory || !memory->find(p, bytes, &span)) return {};
  const auto* const at = static_cast<const char*>(p);
  std::optional<wire::Address> address = use_exposed(at, bytes);
  if (!address) {
    const std::lock_guard lock(exposing_);
    address = use_exposed(at, bytes);  // by a thread that was here before
    if (!address && !refused_ && expose(link, span)) address = use_exposed(at, bytes);
  }
  address ? memory->moved(p, bytes) : memory->refused();
  return address;
}

std::optional<wire::Address> Exposures::use_exposed(const char* p, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(exposed_.begin(), exposed_.end(), [&](const Exposed& e) { return e.holds(p, bytes); });
  if (it == exposed_.end()) return {};
  exposed_.splice(exposed_.begin(), exposed_, it);
  ++it->users;
  return wire::Address{it->segment, static_cast<uint64_t>(p - it->base)};
}

// An executor that cannot map it will not be asked again.
bool Exposures::expose(wire::Link& link, const SharedSpan& span) {
  {
    const std::lock_guard lock(mutex_);
    if (exposed_.size() >= Most) return false;
  }
  const Result<wire::SegmentId> segment = link.expose_shared(span.file, span.offset, span.base, span.bytes);
  refused_ = !segment.ok() || !link.shared_address(span.base, span.bytes);
  if (refused_ && segment.ok()) (void)link.withdraw(*segment).ok();
  if (refused_) return false;
  const std::lock_guard lock(mutex_);
  exposed_.push_front({*segment, span.base, span.bytes, 0});
  return true;
}

void Exposures::let_go(wire::SegmentId segment) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [segment](const Exposed& e) { return e.segment == segment; };
  const auto it = std::find_if(exposed_.begin(), exposed_.end(), is_it);
  if (it != exposed_.end()) --it->users;
}

bool Exposures::cover(const void* p) {
  const std::lock_guard lock(mutex_);
  const auto* const at = static_cast<const char*>(p);
  return std::any_of(exposed_.begin(), exposed_.end(), [at](const Exposed& e) { return e.holds(at, 1); });
}

bool Exposures::conceal(wire::Link& link, const void* base, size_t bytes) {
  const auto* const from = static_cast<const char*>(base);
  std::list<Exposed> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto in_use = [&](const Exposed& e) { return e.overlaps(from, bytes) && e.users > 0; };
    if (std::any_of(exposed_.begin(), exposed_.end(), in_use)) return false;
    for (auto it = exposed_.begin(); it != exposed_.end();) {
      const auto next = std::next(it);
      if (it->overlaps(from, bytes)) gone.splice(gone.end(), exposed_, it);
      it = next;
    }
  }
  for (const Exposed& e : gone) (void)link.withdraw(e.segment).ok();  // of a link that is closed nobody maps it either
  return true;
}

}  // namespace gt::virt
