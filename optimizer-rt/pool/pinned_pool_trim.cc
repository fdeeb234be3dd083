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
  if (x_arena.adopted() || x_pages == 0) return;
  size_t missing = x_options.short_of ? x_options.short_of() : 0;
  while (missing > 0) {
    const size_t bytes = trim_one(Trim::Largest);
    if (bytes == 0) break;
    x_returned_short.fetch_add(bytes, Relaxed);
    missing -= std::min(bytes, missing);
  }
  while (cached_bytes() > x_options.cache_bytes) {
    const size_t bytes = trim_one(Trim::Largest);
    if (bytes == 0) break;
    x_returned_excess.fetch_add(bytes, Relaxed);
  }
  x_returned_idle.fetch_add(trim_one(Trim::Idle), Relaxed);
  while (trim_one(Trim::Aside) > 0) continue;
}

Returned PinnedPool::take_returned() noexcept {
  const auto any = [](const std::atomic<size_t>& n) { return n.load(Relaxed) != 0; };
  if (!any(x_returned_excess) && !any(x_returned_short) && !any(x_returned_idle)) return {};
  return {x_returned_excess.exchange(0, Relaxed), x_returned_short.exchange(0, Relaxed),
          x_returned_idle.exchange(0, Relaxed)};
}

uint64_t PinnedPool::idle_at(const Span& s) const noexcept {
  return s.freed_at + IdleFactor * std::max(s.pages * PageBytes, LeastIdleSize);
}

// Takes a dirty free span off its list, counted as live until trim_one puts it back. 0: there is none.
PinnedPool::SpanId PinnedPool::trim_victim(Trim what) noexcept {
  const uint64_t now = x_work.load(Relaxed);
  if (what == Trim::Idle && !may_be_idle()) return 0;
  if (what == Trim::Aside && x_free_aside == 0) return 0;
  uint64_t next = UINT64_MAX;
  SpanId victim = 0;
  for (size_t b = Buckets; b-- > 0 && !victim;) {
    for (SpanId id = x_free[b]; id && !victim; id = span(id).next) {
      if (!span(id).dirty || span(id).lost_pin || span(id).aside != (what == Trim::Aside)) continue;
      if (what != Trim::Idle || idle_at(span(id)) <= now) victim = id;
      next = std::min(next, idle_at(span(id)));
    }
  }
  if (what == Trim::Idle) x_idle_at = victim ? now : next;
  if (victim == 0) return 0;
  unlist_free(victim);
  span(victim).kind = Span::Trimming;
  x_live += span(victim).pages * PageBytes;
  return victim;
}

bool PinnedPool::give_back(const Span& s) noexcept {
  const size_t bytes = s.pages * PageBytes;
  if (x_arena.shared() && x_options.deregister && !x_options.deregister(address(s), bytes)) return false;
  if (x_options.lock) system_memory.unlock(address(s), bytes);  // locked pages cannot be given back
  return s.aside || x_arena.give_back(address(s), bytes);
}

// The bytes given back. 0: there was nothing to give, or the driver must not be called now.
size_t PinnedPool::trim_one(Trim what) noexcept {
  SpanId id = 0;
  PinToken pin = 0;
  {
    Guard guard(x_mutex);
    if (!guard.held() || (id = trim_victim(what)) == 0) return 0;
    pin = span(id).pin;
  }
  // The span is on no list now, so it is ours alone; the driver may call malloc and free here.
  const bool unpinned = pin == 0 || (x_options.unpin && x_options.unpin(pin));
  bool returned = unpinned && give_back(span(id));
  Guard guard(x_mutex);
  Span& s = span(id);
  const size_t bytes = s.pages * PageBytes;
  // With the lock: a fork copies what is the arena's.
  if (s.aside && returned) returned = x_arena.renew(address(s), bytes);
  if (unpinned) s.pin = 0;
  if (returned) s.dirty = s.aside = s.hidden = false;
  s.kind = Span::Free;
  s.freed_at = x_work.load(Relaxed);
  x_live -= bytes;
  list_free(merge_neighbours(id, false));
  return returned ? bytes : 0;
}

}  // namespace gt::opt
