#include "optimizer-rt/cl/shared_pool.h"

#include "optimizer-rt/cl/process_end.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/pool/runtime.h"

namespace gt::opt {
namespace {

const virt::VirtualPlatform* g_platform = nullptr;

bool find(const void* p, size_t bytes, virt::SharedSpan* span) noexcept {
  if (!runtime.owns(p) || runtime.in_forked_child()) return false;
  const PinnedPool& pool = *runtime.pool_of(p);
  if (!pool.is_shared()) return false;
  const Extent extent = pool.extent_of(p);
  if (extent.bytes == 0) return runtime.count(Fallback::FreedMemory), false;
  if (extent.aside) return false;
  const auto first = static_cast<size_t>(static_cast<const char*>(p) - extent.base);
  if (bytes > extent.bytes - first) return runtime.count(Fallback::StraddlingTransfer), false;
  span->base = extent.base;
  span->bytes = extent.bytes;
  span->file = pool.file_of(extent, &span->offset);
  if (span->file < 0) runtime.count(Fallback::NotShared);
  return span->file >= 0;
}

// What a site gains is the copy that is not made: of a byte by several threads, on a machine with fast memory.
void moved(const void* p, size_t bytes) noexcept {
  constexpr double Copy_ns = 0.02;
  Counters& c = runtime.counters();
  add(c.in_place, 1);
  add(c.in_place_bytes, bytes);
  if (!runtime.owns(p)) return;
  const SiteIndex site = runtime.pool_of(p)->extent_of(p).site;
  add(c.sites[site].hits, 1);
  add(c.sites[site].hit_bytes, bytes);
  const double saved = Copy_ns * static_cast<double>(bytes);
  runtime.book(site, {saved, saved});
  runtime.worked(bytes);
}

void refused() noexcept { runtime.count(Fallback::NotMapped); }

constinit virt::Optimizer us = {find, moved, refused, exported, run_at_process_end, nullptr};

}  // namespace

void meet_virtual_platform(virt::Meet meet) noexcept {
  if (!meet || !runtime.active()) return;
  us.moves = &runtime.counters().moves;
  g_platform = meet(&us);
  const auto let_go = [](void* base, size_t bytes) {
    return runtime.in_forked_child() || g_platform->deregister(base, bytes);
  };
  deregister_hook.store(let_go, std::memory_order_release);  // who has it sees g_platform, too
}

}  // namespace gt::opt
