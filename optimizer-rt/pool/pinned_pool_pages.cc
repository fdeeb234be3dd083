// What the program does to pages of its blocks by itself.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "optimizer-rt/pool/pinned_pool.h"
#include "optimizer-rt/pool/pinned_pool_impl.h"
#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {
namespace {

constexpr int DontUnmap = 4;  // MREMAP_DONTUNMAP, of newer headers
constexpr int Nothing = MAP_PRIVATE | MAP_ANONYMOUS;

size_t page_bytes() { return static_cast<size_t>(::getpagesize()); }
size_t whole_pages(size_t bytes) { return (bytes + page_bytes() - 1) & ~(page_bytes() - 1); }
bool is_aligned(const void* at) { return reinterpret_cast<uintptr_t>(at) % page_bytes() == 0; }

constexpr bool drops_pages(int advice) {
  constexpr int DontNeedLocked = 24;
  return advice == MADV_DONTNEED || advice == MADV_FREE || advice == DontNeedLocked;
}

void* fail(int error) {
  errno = error;
  return MAP_FAILED;
}

}  // namespace

void PinnedPool::set_aside(const void* at, size_t bytes, bool (*let_go)(const Extent&)) noexcept {
  const char* p = static_cast<const char*>(at);
  const char* const end = p + bytes;
  while (p < end && owns(p)) {
    Extent found;
    {
      Guard guard(mutex_);
      if (!guard.held()) return;  // a handler that interrupted the pool itself
      const SpanId id = span_at(p);
      p = id ? address(span(id)) + span(id).pages * PageBytes : p + PageBytes;
      if (id == 0 || (span(id).aside && span(id).hidden)) continue;
      Span& s = span(id);
      if (s.kind == Span::Slab && s.free_blocks > 0 && !s.aside) unlist_partial(id);
      found = {address(s), s.pages * PageBytes, s.pin, s.site, true};
      s.aside = true;
      s.pin = 0;
    }
    const bool hidden = let_go(found);
    Guard guard(mutex_);
    const SpanId id = span_at(found.base);
    if (id && address(span(id)) == found.base && span(id).aside) span(id).hidden = hidden;
  }
}

// The driver's memory stays what it is: only what is in it goes.
int PinnedPool::advise(void* at, size_t bytes, int advice) noexcept {
  const Guard guard(mutex_);
  if (drops_pages(advice) && is_aligned(at)) {
    if (arena_.adopted()) return std::memset(at, 0, whole_pages(bytes)), 0;
    if (options_.lock) system_memory.unlock(at, whole_pages(bytes));  // locked pages stay
  }
  return guard.held() ? arena_.advise(at, bytes, advice) : system_memory.advise(at, bytes, advice);
}

int PinnedPool::protect(void* at, size_t bytes, int protection, int key) noexcept {
  const Guard guard(mutex_);
  const int result = system_memory.protect(at, bytes, protection, key);
  if (result == 0 && guard.held()) arena_.protected_as(at, whole_pages(bytes), protection);
  return result;
}

// Not for others to map, who would find their memory owned by us: nothing that can be touched.
void PinnedPool::leave_nothing(void* at, size_t bytes) noexcept {
  if (system_memory.map_file(at, bytes, PROT_NONE, Nothing, -1, 0)) arena_.replaced(at, bytes);
}

int PinnedPool::unmap(void* at, size_t bytes) noexcept {
  const Guard guard(mutex_);
  if (!is_aligned(at) || bytes == 0) {
    errno = EINVAL;
    return -1;
  }
  leave_nothing(at, whole_pages(bytes));
  return 0;
}

void PinnedPool::replaced(const void* at, size_t bytes) noexcept {
  const Guard guard(mutex_);
  arena_.replaced(at, whole_pages(bytes));
}

void* PinnedPool::remap(void* at, size_t bytes, size_t new_bytes, int flags, void* to) noexcept {
  const Guard guard(mutex_);
  auto* const old = static_cast<char*>(at);
  bytes = whole_pages(bytes);
  new_bytes = whole_pages(new_bytes);
  if (!is_aligned(at) || bytes == 0 || new_bytes == 0) return fail(EINVAL);
  if (!(flags & MREMAP_FIXED) && new_bytes <= bytes) {
    if (new_bytes < bytes) leave_nothing(old + new_bytes, bytes - new_bytes);
    return at;
  }
  if (!(flags & MREMAP_MAYMOVE)) return fail(flags & MREMAP_FIXED ? EINVAL : ENOMEM);
  if (!arena_.make_private(at, bytes)) return fail(ENOMEM);
  return move_away(old, bytes, new_bytes, flags & ~DontUnmap, to);
}

// In two steps, so that what was there is never a hole for others.
void* PinnedPool::move_away(char* at, size_t bytes, size_t new_bytes, int flags, void* to) noexcept {
  void* moved = system_memory.remap(at, bytes, bytes, MREMAP_MAYMOVE | DontUnmap, nullptr);
  if (moved == MAP_FAILED) return MAP_FAILED;
  void* const grown = system_memory.remap(moved, bytes, new_bytes, flags, to);
  if (grown == MAP_FAILED) {
    const int error = errno;
    system_memory.move(moved, at, bytes);
    return fail(error);
  }
  leave_nothing(at, bytes);
  return grown;
}

}  // namespace gt::opt
