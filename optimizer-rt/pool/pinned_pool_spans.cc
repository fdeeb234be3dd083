// The pool's lower half: spans of pages, found, cut, merged and returned. All under the pool's
// lock.
#include <algorithm>
#include <bit>

#include "optimizer-rt/pool/numa.h"
#include "optimizer-rt/pool/pinned_pool.h"
#include "optimizer-rt/pool/pinned_pool_impl.h"
#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {
namespace {

constexpr int LookedAt = 64;  // free spans examined in one bucket before a larger one is taken
constexpr uint32_t WastefulFactor =
    4;  // a pinned span this much larger is not cut while untouched arena is left

uint32_t bucket_of(uint32_t pages) { return static_cast<uint32_t>(std::bit_width(pages)) - 1; }
uint32_t round_up(uint32_t n, uint32_t unit) { return (n + unit - 1) / unit * unit; }

void* map_table(size_t bytes) {
  void* p = system_memory.map(bytes, PROT_READ | PROT_WRITE);
  return p == MAP_FAILED ? nullptr : p;
}

}  // namespace

// Nobody uses the pool yet.
bool PinnedPool::make_tables() noexcept GT_NO_THREAD_SAFETY_ANALYSIS {
  const size_t pages = arena_.size() / PageBytes;
  page_span_ = static_cast<SpanId*>(map_table((pages + 1) * sizeof(SpanId)));
  spans_ = static_cast<Span*>(map_table((pages + 2) * sizeof(Span)));
  if (!page_span_ || !spans_) return false;
  span_count_ = 1;
  pages_ = static_cast<PageId>(pages);  // from here on allocate() works
  return true;
}

bool PinnedPool::open(const PoolOptions& options) noexcept {
  options_ = options;
  if (!arena_.reserve(options.reserve_bytes, size_t{16} << 20)) return false;
  if (options.shared) arena_.share();
  return make_tables();
}

bool PinnedPool::open_over(void* memory, size_t bytes, PinToken pin) noexcept {
  options_.limit_bytes = bytes;
  options_.cache_bytes = bytes;  // nothing can be returned
  first_pin_ = pin;
  return arena_.adopt(memory, bytes) && make_tables();
}

bool PinnedPool::prefer_node(int node) noexcept {
  return pages_ > 0 && !arena_.adopted() && gt::opt::prefer_node(arena_.base(), arena_.size(), node);
}

PinnedPool::SpanId PinnedPool::span_at(const void* p) const noexcept {
  const size_t page = static_cast<size_t>(static_cast<const char*>(p) - arena_.base()) / PageBytes;
  if (page >= top_) return 0;
  const SpanId id = page_span_[page];
  const Span& s = span(id);  // stale for the inside of a free span: checked here
  const bool inside = page >= s.page && page < size_t{s.page} + s.pages;
  return inside && (s.kind == Span::Large || s.kind == Span::Slab) ? id : 0;
}

PinnedPool::SpanId PinnedPool::new_span(PageId page, PageId pages) noexcept {
  SpanId id = spare_span_;
  if (id)
    spare_span_ = span(id).next;
  else
    id = span_count_++;
  Span& s = span(id);
  s.page = page;
  s.pages = pages;
  s.next = s.prev = 0;
  s.kind = Span::Unused;
  s.mapped = false;
  s.inherit({});
  return id;
}

void PinnedPool::drop_span(SpanId id) noexcept {
  Span& s = span(id);
  s.kind = Span::Unused;
  s.pages = 0;
  s.next = spare_span_;
  spare_span_ = id;
}

void PinnedPool::map_ends(SpanId id) noexcept {
  const Span& s = span(id);
  page_span_[s.page] = page_span_[s.page + s.pages - 1] = id;
}

void PinnedPool::map_all(SpanId id) noexcept {
  Span& s = span(id);
  if (!s.mapped) std::fill_n(page_span_ + s.page, s.pages, id);
  s.mapped = true;
}

void PinnedPool::list_free(SpanId id) noexcept {
  Span& s = span(id);
  s.kind = Span::Free;
  SpanId& head = free_[bucket_of(s.pages)];
  s.prev = 0;
  s.next = head;
  if (head) span(head).prev = id;
  head = id;
  if (s.dirty) cached_ += s.pages * PageBytes;
  if (s.aside) ++free_aside_;
  map_ends(id);
}

void PinnedPool::unlist_free(SpanId id) noexcept {
  Span& s = span(id);
  if (s.prev)
    span(s.prev).next = s.next;
  else
    free_[bucket_of(s.pages)] = s.next;
  if (s.next) span(s.next).prev = s.prev;
  s.next = s.prev = 0;
  if (s.dirty) cached_ -= s.pages * PageBytes;
  if (s.aside) --free_aside_;
}

bool PinnedPool::fits(const Span& s, PageId pages, PageId align) const noexcept {
  return !s.aside && size_t{round_up(s.page, align)} + pages <= size_t{s.page} + s.pages;
}

PinnedPool::SpanId PinnedPool::find_free(PageId pages, PageId align) noexcept {
  for (uint32_t b = bucket_of(pages); b < Buckets; ++b) {
    SpanId best = 0;
    int looked = 0;
    for (SpanId id = free_[b]; id && looked < LookedAt; id = span(id).next, ++looked) {
      const Span& s = span(id);
      if (fits(s, pages, align) && (best == 0 || s.pages < span(best).pages)) best = id;
      if (best && span(best).pages == pages) break;
    }
    if (best) return best;
  }
  return 0;
}

// Cuts everything behind the first `pages` off, as a free span with the same pin. `id` is on no
// list.
void PinnedPool::cut_tail(SpanId id, PageId pages) noexcept {
  if (span(id).pages == pages) return;
  const SpanId tail = new_span(span(id).page + pages, span(id).pages - pages);
  span(tail).inherit(span(id));
  span(id).pages = pages;
  map_ends(id);  // merging looks at the page before the tail
  list_free(merge_neighbours(tail, false));
}

// `pages` aligned pages out of the free span `id`; what is left over before and behind stays free.
PinnedPool::SpanId PinnedPool::carve(SpanId id, PageId pages, PageId align) noexcept {
  unlist_free(id);
  const PageId start = round_up(span(id).page, align);
  const PageId before = start - span(id).page;
  if (before > 0) {
    const SpanId rest = new_span(start, span(id).pages - before);
    span(rest).inherit(span(id));
    span(id).pages = before;
    span(id).mapped = false;
    list_free(id);
    id = rest;
  }
  span(id).kind = Span::Unused;
  cut_tail(id, pages);
  return id;
}

bool PinnedPool::may_grow(PageId pages, PageId align) const noexcept {
  const size_t end = size_t{round_up(top_, align)} + pages;
  return end <= pages_ && live_ + cached_ + pages * PageBytes <= options_.limit_bytes;
}

PinnedPool::SpanId PinnedPool::grow_top(PageId pages, PageId align) noexcept {
  const PageId start = round_up(top_, align);
  if (!may_grow(pages, align) || !arena_.grow((size_t{start} + pages) * PageBytes)) return 0;
  const bool dirty = arena_.adopted();
  const PageId gap = start - top_;
  const PageId old_top = top_;
  top_ = start + pages;
  const SpanId id = new_span(start, pages);
  span(id).pin = first_pin_;
  span(id).dirty = dirty;
  map_all(id);
  if (gap > 0) {
    const SpanId g = new_span(old_top, gap);
    span(g).pin = first_pin_;
    span(g).dirty = dirty;
    list_free(merge_neighbours(g, false));
  }
  return id;
}

// Makes one span of two neighbours that are on no list.
PinnedPool::SpanId PinnedPool::absorb(SpanId left, SpanId right) noexcept {
  Span& l = span(left);
  const Span& r = span(right);
  l.pages += r.pages;
  l.dirty = l.dirty || r.dirty;
  l.freed_at = std::max(l.freed_at, r.freed_at);
  l.hidden = l.hidden && r.hidden;
  l.lost_pin = l.lost_pin || r.lost_pin || l.pin != r.pin;
  if (l.pin != r.pin) l.pin = 0;
  l.mapped = false;
  drop_span(right);
  return left;
}

// Merges `id`, on no list, with its free neighbours that are like it (or any). The result is on no list.
PinnedPool::SpanId PinnedPool::merge_neighbours(SpanId id, bool any) noexcept {
  const auto joins = [&](SpanId other) {
    const bool alike = span(other).is_like(span(id)) || (any && span(other).aside == span(id).aside);
    return span(other).kind == Span::Free && alike;
  };
  if (span(id).page > 0) {
    const SpanId left = page_span_[span(id).page - 1];
    if (joins(left)) {
      unlist_free(left);
      id = absorb(left, id);
    }
  }
  const PageId end = span(id).page + span(id).pages;
  if (end < top_) {
    const SpanId right = page_span_[end];
    if (joins(right)) {
      unlist_free(right);
      id = absorb(id, right);
    }
  }
  return id;
}

// Under need: neighbours with different pins become one span; it will be pinned anew if it is
// transferred.
void PinnedPool::merge_everything() noexcept {
  for (PageId page = 0; page < top_;) {
    const SpanId id = page_span_[page];
    if (span(id).kind == Span::Free) {
      unlist_free(id);
      const SpanId merged = merge_neighbours(id, true);
      list_free(merged);
      page = span(merged).page + span(merged).pages;
    } else {
      page = span(id).page + span(id).pages;
    }
  }
}

PinnedPool::SpanId PinnedPool::take_span(PageId pages, PageId align, SiteIndex site) noexcept {
  if (align == 0) align = 1;
  SpanId found = find_free(pages, align);
  const bool wasteful = found && span(found).pin && span(found).pages / WastefulFactor > pages;
  SpanId id = 0;
  if (found && !(wasteful && may_grow(pages, align))) id = carve(found, pages, align);
  if (id == 0) id = grow_top(pages, align);
  if (id == 0) {
    merge_everything();
    found = find_free(pages, align);
    if (found) id = carve(found, pages, align);
  }
  if (id == 0) return 0;
  map_all(id);
  span(id).site = site;
  live_ += pages * PageBytes;
  work_.fetch_add(pages * PageBytes, std::memory_order_relaxed);
  if (span(id).dirty) return id;
  grew_ = true;
  if (options_.lock && system_memory.lock(address(span(id)), pages * PageBytes) != 0)
    lock_refused_.store(true, std::memory_order_relaxed);
  return id;
}

void PinnedPool::give_span(SpanId id) noexcept {
  Span& s = span(id);
  s.kind = Span::Unused;
  s.dirty = true;
  s.freed_at = work_.load(std::memory_order_relaxed);
  idle_at_ = std::min(idle_at_, idle_at(s));
  live_ -= s.pages * PageBytes;
  list_free(merge_neighbours(id, false));
}

bool PinnedPool::is_valid() const noexcept {
  size_t live = 0, cached = 0;
  const Span* before = nullptr;
  for (PageId page = 0; page < top_;) {
    const SpanId id = page_span_[page];
    const Span& s = span(id);
    if (id == 0 || s.page != page || s.pages == 0 || page_span_[page + s.pages - 1] != id)
      return false;
    if (s.kind == Span::Unused) return false;
    if (s.kind == Span::Free && before && before->kind == Span::Free && before->is_like(s)) return false;
    if (s.kind != Span::Free) {
      live += s.pages * PageBytes;
      // Only the ends of what was free are told; another thread may be giving it back just now.
      for (PageId i = 0; i < s.pages && s.kind != Span::Trimming; ++i)
        if (page_span_[page + i] != id) return false;
    } else if (s.dirty) {
      cached += s.pages * PageBytes;
    }
    before = &s;
    page += s.pages;
  }
  return live == live_ && cached == cached_;
}

}  // namespace gt::opt
