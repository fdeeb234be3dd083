#include "optimizer-rt/pool/kept_blocks.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>

#include "optimizer-rt/pool/huge_pages.h"
#include "optimizer-rt/pool/residency.h"
#include "traces/base/overcommit.h"

namespace gt::opt {

constinit KeptBlocks kept_blocks;

namespace {

bool is_unlimited(int resource) {
  rlimit limit{};
  return ::getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

bool may_keep() {
  static const bool promised = memory_is_promised();
  return promised && is_unlimited(RLIMIT_AS) && is_unlimited(RLIMIT_DATA);
}

bool is_filled(const void* block, size_t bytes) {
  constexpr size_t Twentieth = 20;
  return is_resident(block, bytes, Twentieth);
}

bool is_aligned(const void* p, size_t align) {
  return align == 0 || (reinterpret_cast<uintptr_t>(p) & (align - 1)) == 0;
}

}  // namespace

void KeptBlocks::open(HugePages* pages, void (*release)(void*), Counter* blocks, Counter* bytes) noexcept {
  pages_ = pages;
  blocks_ = blocks;
  bytes_ = bytes;
  release_ = release;
}

// --- Which sizes come again ---

KeptBlocks::Loop* KeptBlocks::loop_of(size_t bytes) noexcept {
  Loop* const found = std::ranges::find(loops_, bytes, &Loop::bytes);
  return found == std::end(loops_) ? nullptr : found;
}

void KeptBlocks::made(size_t bytes, uint64_t now_ns) noexcept {
  if (!release_ || !mutex_.try_lock()) return;
  const MutexLock lock(mutex_, std::adopt_lock);
  Loop* const loop = loop_of(bytes);
  if (!loop) return;
  loop->rounds = now_ns <= loop->freed_ns + Patience_ns ? std::min(loop->rounds + 1, Rounds) : 0;
}

bool KeptBlocks::freed(size_t bytes, uint64_t now_ns) noexcept {
  if (!release_ || !mutex_.try_lock()) return false;
  const MutexLock lock(mutex_, std::adopt_lock);
  Loop* loop = loop_of(bytes);
  if (!loop) {
    loop = std::ranges::min_element(loops_, {}, &Loop::freed_ns);
    *loop = {.bytes = bytes};
  }
  loop->freed_ns = now_ns;
  return loop->rounds >= Rounds;
}

// --- What is kept ---

bool KeptBlocks::keep(void* block, size_t bytes, uint64_t now_ns) noexcept {
  const int saved_errno = errno;
  const bool worth = may_keep() && is_filled(block, bytes);
  errno = saved_errno;
  if (!worth || !mutex_.try_lock()) return false;
  const MutexLock lock(mutex_, std::adopt_lock);
  Kept* const place = std::ranges::find(kept_, nullptr, &Kept::block);
  if (place == std::end(kept_) || !pages_->lend(bytes)) return false;
  *place = {block, bytes, now_ns};
  count_.fetch_add(1);
  return true;
}

void* KeptBlocks::take(size_t bytes, size_t align) noexcept {
  if (!any() || !mutex_.try_lock()) return nullptr;
  const MutexLock lock(mutex_, std::adopt_lock);
  Kept* const place =
      std::ranges::find_if(kept_, [=](const Kept& k) { return k.bytes == bytes && is_aligned(k.block, align); });
  if (place == std::end(kept_)) return nullptr;
  void* const block = place->block;
  *place = {};
  count_.fetch_sub(1);
  pages_->repay(bytes);
  add(*blocks_, 1);
  add(*bytes_, bytes);
  return block;
}

// Nobody came for them in time: the loop is over.
size_t KeptBlocks::remove_old(uint64_t now_ns, Kept* removed) noexcept {
  size_t n = 0;
  for (Kept& k : kept_) {
    if (!k.block || now_ns < k.since_ns + Patience_ns) continue;
    if (Loop* const loop = loop_of(k.bytes)) loop->rounds = 0;
    removed[n++] = k;
    k = {};
    count_.fetch_sub(1);
  }
  return n;
}

// It calls the C library without the lock.
void KeptBlocks::give_back(uint64_t now_ns) noexcept {
  if (!any()) return;
  Kept removed[Most];
  size_t n = 0;
  if (!mutex_.try_lock()) return;
  {
    const MutexLock lock(mutex_, std::adopt_lock);
    n = remove_old(now_ns, removed);
  }
  for (const Kept& k : std::span(removed, n)) {
    release_(k.block);
    pages_->repay(k.bytes);
  }
}

// Nobody else is there. Whoever held the lock is not.
void KeptBlocks::forget_in_child() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  new (&mutex_) Mutex;
  for (Kept& k : kept_) k = {};
  for (Loop& l : loops_) l = {};
  count_.store(0);
}

}  // namespace gt::opt
