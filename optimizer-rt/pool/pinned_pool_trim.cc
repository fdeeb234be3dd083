// Giving cached spans back to the system.
#include <algorithm>

#include "optimizer-rt/pool/pinned_pool.h"
#include "optimizer-rt/pool/pinned_pool_impl.h"
#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {
namespace {

constexpr auto Relaxed = std::memory_order_relaxed;

}  // namespace

void PinnedPool::trim() noexcept {
  if (arena_.adopted() || pages_ == 0) return;
  size_t missing = options_.short_of ? options_.short_of() : 0;
  while (missing > 0) {
    const size_t bytes = trim_one(Trim::Largest);
    if (bytes == 0) break;
    returned_short_.fetch_add(bytes, Relaxed);
    missing -= std::min(bytes, missing);
  }
  while (cached_bytes() > options_.cache_bytes) {
    const size_t bytes = trim_one(Trim::Largest);
    if (bytes == 0) break;
    returned_excess_.fetch_add(bytes, Relaxed);
  }
  returned_idle_.fetch_add(trim_one(Trim::Idle), Relaxed);
  while (trim_one(Trim::Aside) > 0) continue;
}

Returned PinnedPool::take_returned() noexcept {
  const auto any = [](const std::atomic<size_t>& n) { return n.load(Relaxed) != 0; };
  if (!any(returned_excess_) && !any(returned_short_) && !any(returned_idle_)) return {};
  return {returned_excess_.exchange(0, Relaxed), returned_short_.exchange(0, Relaxed),
          returned_idle_.exchange(0, Relaxed)};
}

uint64_t PinnedPool::idle_at(const Span& s) const noexcept {
  return s.freed_at + IdleFactor * std::max(s.pages * PageBytes, LeastIdleSize);
}

// Takes a dirty free span off its list, counted as live until trim_one puts it back. 0: there is none.
PinnedPool::SpanId PinnedPool::trim_victim(Trim what) noexcept {
  const uint64_t now = work_.load(Relaxed);
  if (what == Trim::Idle && !may_be_idle()) return 0;
  if (what == Trim::Aside && free_aside_ == 0) return 0;
  uint64_t next = UINT64_MAX;
  SpanId victim = 0;
  for (size_t b = Buckets; b-- > 0 && !victim;) {
    for (SpanId id = free_[b]; id && !victim; id = span(id).next) {
      if (!span(id).dirty || span(id).lost_pin || span(id).aside != (what == Trim::Aside)) continue;
      if (what != Trim::Idle || idle_at(span(id)) <= now) victim = id;
      next = std::min(next, idle_at(span(id)));
    }
  }
  if (what == Trim::Idle) idle_at_ = victim ? now : next;
  if (victim == 0) return 0;
  unlist_free(victim);
  span(victim).kind = Span::Trimming;
  live_ += span(victim).pages * PageBytes;
  return victim;
}

bool PinnedPool::give_back(const Span& s) noexcept {
  const size_t bytes = s.pages * PageBytes;
  if (arena_.shared() && options_.deregister && !options_.deregister(address(s), bytes)) return false;
  if (options_.lock) system_memory.unlock(address(s), bytes);  // locked pages cannot be given back
  return s.aside || arena_.give_back(address(s), bytes);
}

// The bytes given back. 0: there was nothing to give, or the driver must not be called now.
size_t PinnedPool::trim_one(Trim what) noexcept {
  SpanId id = 0;
  PinToken pin = 0;
  {
    Guard guard(mutex_);
    if (!guard.held() || (id = trim_victim(what)) == 0) return 0;
    pin = span(id).pin;
  }
  // The span is on no list now, so it is ours alone; the driver may call malloc and free here.
  const bool unpinned = pin == 0 || (options_.unpin && options_.unpin(pin));
  bool returned = unpinned && give_back(span(id));
  Guard guard(mutex_);
  Span& s = span(id);
  const size_t bytes = s.pages * PageBytes;
  // With the lock: a fork copies what is the arena's.
  if (s.aside && returned) returned = arena_.renew(address(s), bytes);
  if (unpinned) s.pin = 0;
  if (returned) s.dirty = s.aside = s.hidden = false;
  s.kind = Span::Free;
  s.freed_at = work_.load(Relaxed);
  live_ -= bytes;
  list_free(merge_neighbours(id, false));
  return returned ? bytes : 0;
}

}  // namespace gt::opt
