// The pool: blocks on top (allocate, release), spans below (pinned_pool_spans.cc).
#include <bit>
#include <cstring>

#include "optimizer-rt/pool/pinned_pool_impl.h"

namespace gt::opt {
namespace {

// Size classes: 64, 128, 192, 256, then four to each doubling up to 256 KiB; all multiples of 64.
size_t class_of(size_t size) {
  if (size <= 256) return size == 0 ? 0 : (size + 63) / 64 - 1;
  const size_t top = static_cast<size_t>(std::bit_width(size - 1)) - 1;
  return 4 + (top - 8) * 4 + (((size - 1) >> (top - 2)) & 3);
}
size_t class_bytes(size_t c) {
  if (c < 4) return (c + 1) * 64;
  return ((c - 4) % 4 + 5) << ((c - 4) / 4 + 6);
}
// Few enough blocks for the bitmap, enough to be worth a span.
uint32_t slab_pages(size_t c) {
  const size_t bytes = class_bytes(c);
  return bytes <= (4 << 10) ? 1 : bytes <= (32 << 10) ? 8 : 32;
}

}  // namespace

__thread bool t_inside_pool = false;

void* PinnedPool::allocate(size_t size, size_t align, SiteIndex site, bool* fresh) noexcept {
  if (fresh) *fresh = false;
  if (pages_ == 0 || size > options_.limit_bytes || align > HugePage || site >= MaxPoolSites)
    return nullptr;
  void* p = nullptr;
  {
    Guard guard(mutex_);
    if (!guard.held()) return nullptr;
    drain_deferred();
    p = allocate_locked(size, align, site, fresh);
    if (!grew_) return p;
    grew_ = false;
  }
  trim();  // nothing of the new memory was touched yet
  return p;
}

void* PinnedPool::allocate_locked(size_t size, size_t align, SiteIndex site, bool* fresh) noexcept {
  if (size > LargestSmall || align > PageBytes) return allocate_large(size, align, site, fresh);
  size_t c = class_of(size);
  while (c < Classes && align > 64 && class_bytes(c) % align != 0) ++c;
  return c < Classes ? allocate_small(c, site) : allocate_large(size, align, site, fresh);
}

void* PinnedPool::allocate_large(size_t size, size_t align, SiteIndex site, bool* fresh) noexcept {
  size_t pages = size == 0 ? 1 : (size + PageBytes - 1) / PageBytes;
  if (pages >= RoundingPages) pages = (pages + HugePages - 1) / HugePages * HugePages;
  const size_t want = pages >= HugePages ? HugePage : align;
  const SpanId id = take_span(static_cast<PageId>(pages),
                              static_cast<PageId>((want + PageBytes - 1) / PageBytes), site);
  if (id == 0) return nullptr;
  Span& s = span(id);
  s.kind = Span::Large;
  if (fresh) *fresh = !s.dirty;
  return address(s);
}

PinnedPool::SpanId PinnedPool::new_slab(size_t c, SiteIndex site) noexcept {
  const PageId pages = slab_pages(c);
  const SpanId id = take_span(pages, pages == HugePages ? HugePages : 1, site);
  if (id == 0) return 0;
  Span& s = span(id);
  s.kind = Span::Slab;
  s.size_class = static_cast<uint8_t>(c);
  s.blocks = s.free_blocks = static_cast<uint16_t>(pages * PageBytes / class_bytes(c));
  std::memset(s.used, 0, sizeof s.used);
  list_partial(id);
  return id;
}

void* PinnedPool::allocate_small(size_t c, SiteIndex site) noexcept {
  SpanId id = partial_[site][c];
  if (id == 0) id = new_slab(c, site);
  if (id == 0) return nullptr;
  Span& s = span(id);
  size_t word = 0;
  while (s.used[word] == ~uint64_t{0}) ++word;  // ends: free_blocks > 0
  const size_t bit = static_cast<size_t>(std::countr_one(s.used[word]));
  s.used[word] |= uint64_t{1} << bit;
  if (--s.free_blocks == 0) unlist_partial(id);
  return address(s) + (word * 64 + bit) * class_bytes(c);
}

void PinnedPool::list_partial(SpanId id) noexcept {
  Span& s = span(id);
  SpanId& head = partial_[s.site][s.size_class];
  s.prev = 0;
  s.next = head;
  if (head) span(head).prev = id;
  head = id;
}

void PinnedPool::unlist_partial(SpanId id) noexcept {
  Span& s = span(id);
  if (s.prev)
    span(s.prev).next = s.next;
  else
    partial_[s.site][s.size_class] = s.next;
  if (s.next) span(s.next).prev = s.prev;
  s.next = s.prev = 0;
}

void PinnedPool::release(void* p) noexcept {
  {
    Guard guard(mutex_);
    if (!guard.held()) return defer(p);
    const size_t cached = cached_;
    drain_deferred();
    release_locked(p);
    if (cached_ == cached) return;
  }
  trim();
}

void PinnedPool::release_locked(void* p) noexcept {
  const SpanId id = span_at(p);
  const size_t offset = id ? static_cast<size_t>(static_cast<char*>(p) - address(span(id))) : 0;
  bool good = false;
  if (id && span(id).kind == Span::Slab) {
    good = release_small(id, offset);
  } else if (id && offset == 0) {
    give_span(id);
    good = true;
  }
  // libc would abort; the program may have lived with it so far only because nothing checked.
  if (!good) bad_releases_.fetch_add(1, std::memory_order_relaxed);
}

bool PinnedPool::release_small(SpanId id, size_t offset) noexcept {
  Span& s = span(id);
  const size_t bytes = class_bytes(s.size_class);
  const size_t block = offset / bytes;
  if (offset % bytes != 0 || block >= s.blocks) return false;
  const uint64_t bit = uint64_t{1} << (block % 64);
  if (!(s.used[block / 64] & bit)) return false;
  s.used[block / 64] &= ~bit;
  if (s.free_blocks++ == 0 && !s.aside) list_partial(id);
  if (s.aside) {  // no block is made of it again
    if (s.free_blocks == s.blocks) give_span(id);
    return true;
  }
  // The last slab of its kind stays, for the loop that allocates and frees one block.
  const bool other = s.next != 0 || s.prev != 0;
  if (s.free_blocks == s.blocks && other) {
    unlist_partial(id);
    give_span(id);
  }
  return true;
}

void PinnedPool::defer(void* p) noexcept {
  void* head = deferred_.load(std::memory_order_relaxed);
  do {
    std::memcpy(p, &head, sizeof head);
  } while (!deferred_.compare_exchange_weak(head, p, std::memory_order_release,
                                             std::memory_order_relaxed));
}

void PinnedPool::drain_deferred() noexcept {
  if (deferred_.load(std::memory_order_relaxed) == nullptr) return;
  void* p = deferred_.exchange(nullptr, std::memory_order_acquire);
  while (p) {
    void* next;
    std::memcpy(&next, p, sizeof next);
    release_locked(p);
    p = next;
  }
}

size_t PinnedPool::usable_size(const void* p) const noexcept {
  const Guard guard(mutex_);  // a signal handler's own block stays what it is without
  const SpanId id = span_at(p);
  if (id == 0) return 0;
  const Span& s = span(id);
  const size_t offset = static_cast<size_t>(static_cast<const char*>(p) - address(s));
  if (s.kind == Span::Large) return offset == 0 ? s.pages * PageBytes : 0;
  const size_t bytes = class_bytes(s.size_class);
  const size_t block = offset / bytes;
  const bool live =
      offset % bytes == 0 && block < s.blocks && (s.used[block / 64] >> (block % 64) & 1);
  return live ? bytes : 0;
}

Extent PinnedPool::extent_of(const void* p) const noexcept {
  Guard guard(mutex_);
  const SpanId id = guard.held() ? span_at(p) : 0;
  if (id == 0) return {};
  const Span& s = span(id);
  return {address(s), s.pages * PageBytes, s.pin, s.site, s.aside};
}

bool PinnedPool::set_pin(const Extent& extent, PinToken pin) noexcept {
  Guard guard(mutex_);
  const SpanId id = guard.held() ? span_at(extent.base) : 0;
  if (id == 0) return false;
  Span& s = span(id);
  if (s.aside || address(s) != extent.base || s.pages * PageBytes != extent.bytes || s.pin != extent.pin)
    return false;
  s.pin = pin;
  return true;
}

size_t PinnedPool::live_bytes() const noexcept {
  Guard guard(mutex_);
  return live_;
}
size_t PinnedPool::cached_bytes() const noexcept {
  Guard guard(mutex_);
  return cached_;
}

// Other fork handlers of this thread may allocate in between: they count as inside, and get libc's
// memory.
void PinnedPool::lock_for_fork() noexcept {
  mutex_.lock();
  t_inside_pool = true;
  arena_.begin_fork();
  for (PageId page = 0; arena_.shared() && page < top_; page += span(page_span_[page]).pages) {
    const Span& s = span(page_span_[page]);
    if (s.kind == Span::Large || s.kind == Span::Slab) arena_.copy_for_child(address(s), s.pages * PageBytes);
  }
}
void PinnedPool::unlock_after_fork() noexcept {
  arena_.end_fork();
  t_inside_pool = false;
  mutex_.unlock();
}

}  // namespace gt::opt
