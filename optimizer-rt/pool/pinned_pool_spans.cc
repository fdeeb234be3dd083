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

bool PinnedPool::make_tables() noexcept {
  const size_t pages = x_arena.size() / PageBytes;
  x_page_span = static_cast<SpanId*>(map_table((pages + 1) * sizeof(SpanId)));
  x_spans = static_cast<Span*>(map_table((pages + 2) * sizeof(Span)));
  if (!x_page_span || !x_spans) return false;
  x_span_count = 1;
  x_pages = static_cast<PageId>(pages);  // from here on allocate() works
  return true;
}

bool PinnedPool::open(const PoolOptions& options) noexcept {
  x_options = options;
  if (!x_arena.reserve(options.reserve_bytes, size_t{16} << 20)) return false;
  if (options.shared) x_arena.share();
  return make_tables();
}

bool PinnedPool::open_over(void* memory, size_t bytes, PinToken pin) noexcept {
  x_options.limit_bytes = bytes;
  x_options.cache_bytes = bytes;  // nothing can be returned
  x_first_pin = pin;
  return x_arena.adopt(memory, bytes) && make_tables();
}

bool PinnedPool::prefer_node(int node) noexcept {
  return x_pages > 0 && !x_arena.adopted() && gt::opt::prefer_node(x_arena.base(), x_arena.size(), node);
}

PinnedPool::SpanId PinnedPool::span_at(const void* p) const noexcept {
  const size_t page = static_cast<size_t>(static_cast<const char*>(p) - x_arena.base()) / PageBytes;
  if (page >= x_top) return 0;
  const SpanId id = x_page_span[page];
  const Span& s = span(id);  // stale for the inside of a free span: checked here
  const bool inside = page >= s.page && page < size_t{s.page} + s.pages;
  return inside && (s.kind == Span::Large || s.kind == Span::Slab) ? id : 0;
}

PinnedPool::SpanId PinnedPool::new_span(PageId page, PageId pages) noexcept {
  SpanId id = x_spare_span;
  if (id)
    x_spare_span = span(id).next;
  else
    id = x_span_count++;
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
  s.next = x_spare_span;
  x_spare_span = id;
}

void PinnedPool::map_ends(SpanId id) noexcept {
  const Span& s = span(id);
  x_page_span[s.page] = x_page_span[s.page + s.pages - 1] = id;
}

void PinnedPool::map_all(SpanId id) noexcept {
  Span& s = span(id);
  if (!s.mapped)
    for (PageId i = 0; i < s.pages; ++i) x_page_span[s.page + i] = id;
  s.mapped = true;
}

void PinnedPool::list_free(SpanId id) noexcept {
  Span& s = span(id);
  s.kind = Span::Free;
  SpanId& head = x_free[bucket_of(s.pages)];
  s.prev = 0;
  s.next = head;
  if (head) span(head).prev = id;
  head = id;
  if (s.dirty) x_cached += s.pages * PageBytes;
  if (s.aside) ++x_free_aside;
  map_ends(id);
}

void PinnedPool::unlist_free(SpanId id) noexcept {
  Span& s = span(id);
  if (s.prev)
    span(s.prev).next = s.next;
  else
    x_free[bucket_of(s.pages)] = s.next;
  if (s.next) span(s.next).prev = s.prev;
  s.next = s.prev = 0;
  if (s.dirty) x_cached -= s.pages * PageBytes;
  if (s.aside) --x_free_aside;
}

bool PinnedPool::fits(const Span& s, PageId pages, PageId align) const noexcept {
  return !s.aside && size_t{round_up(s.page, align)} + pages <= size_t{s.page} + s.pages;
}

PinnedPool::SpanId PinnedPool::find_free(PageId pages, PageId align) noexcept {
  for (uint32_t b = bucket_of(pages); b < Buckets; ++b) {
    SpanId best = 0;
    int looked = 0;
    for (SpanId id = x_free[b]; id && looked < LookedAt; id = span(id).next, ++looked) {
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
  const size_t end = size_t{round_up(x_top, align)} + pages;
  return end <= x_pages && x_live + x_cached + pages * PageBytes <= x_options.limit_bytes;
}

PinnedPool::SpanId PinnedPool::grow_top(PageId pages, PageId align) noexcept {
  const PageId start = round_up(x_top, align);
  if (!may_grow(pages, align) || !x_arena.grow((size_t{start} + pages) * PageBytes)) return 0;
  const bool dirty = x_arena.adopted();
  const PageId gap = start - x_top;
  const PageId old_top = x_top;
  x_top = start + pages;
  const SpanId id = new_span(start, pages);
  span(id).pin = x_first_pin;
  span(id).dirty = dirty;
  map_all(id);
  if (gap > 0) {
    const SpanId g = new_span(old_top, gap);
    span(g).pin = x_first_pin;
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
    const SpanId left = x_page_span[span(id).page - 1];
    if (joins(left)) {
      unlist_free(left);
      id = absorb(left, id);
    }
  }
  const PageId end = span(id).page + span(id).pages;
  if (end < x_top) {
    const SpanId right = x_page_span[end];
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
  for (PageId page = 0; page < x_top;) {
    const SpanId id = x_page_span[page];
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
  x_live += pages * PageBytes;
  x_work.fetch_add(pages * PageBytes, std::memory_order_relaxed);
  if (span(id).dirty) return id;
  x_grew = true;
  if (x_options.lock && system_memory.lock(address(span(id)), pages * PageBytes) != 0)
    x_lock_refused.store(true, std::memory_order_relaxed);
  return id;
}

void PinnedPool::give_span(SpanId id) noexcept {
  Span& s = span(id);
  s.kind = Span::Unused;
  s.dirty = true;
  s.freed_at = x_work.load(std::memory_order_relaxed);
  x_idle_at = std::min(x_idle_at, idle_at(s));
  x_live -= s.pages * PageBytes;
  list_free(merge_neighbours(id, false));
}

bool PinnedPool::is_valid() const noexcept {
  size_t live = 0, cached = 0;
  const Span* before = nullptr;
  for (PageId page = 0; page < x_top;) {
    const SpanId id = x_page_span[page];
    const Span& s = span(id);
    if (id == 0 || s.page != page || s.pages == 0 || x_page_span[page + s.pages - 1] != id)
      return false;
    if (s.kind == Span::Unused) return false;
    if (s.kind == Span::Free && before && before->kind == Span::Free && before->is_like(s)) return false;
    if (s.kind != Span::Free) {
      live += s.pages * PageBytes;
      // Only the ends of what was free are told; another thread may be giving it back just now.
      for (PageId i = 0; i < s.pages && s.kind != Span::Trimming; ++i)
        if (x_page_span[page + i] != id) return false;
    } else if (s.dirty) {
      cached += s.pages * PageBytes;
    }
    before = &s;
    page += s.pages;
  }
  return live == x_live && cached == x_cached;
}

}  // namespace gt::opt
