// Asking the kernel about pages.
#include "tracer/lib/readable.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace gt::tracer {

namespace detail {

// Page 0, which is never readable, must not be found in its slot.
std::atomic<uintptr_t> g_known_pages[KnownPages] = {NoPage};
std::atomic<uintptr_t> g_heap_end{0};

void note_heap_end(uintptr_t end) noexcept {
  if (end < g_heap_end.exchange(end, std::memory_order_relaxed)) interpose::begin_memory_epoch();
}

// rt_sigprocmask with a `how` that does not exist reads the new mask before it says EINVAL, and changes nothing.
// (Abseil asks so, too.) Errors other than EFAULT say nothing against the page.
bool ask_page(uintptr_t page) noexcept {
  constexpr int NoSuchHow = ~0;
  constexpr size_t KernelMaskBytes = 8;
  const int saved = errno;
  const long r = syscall(SYS_rt_sigprocmask, NoSuchHow, page << PageShift, nullptr, KernelMaskBytes);
  const bool yes = page != 0 && !(r == -1 && errno == EFAULT);
  errno = saved;
  return yes;
}

// The epoch is read first: what is asked in an older one is not remembered for the next. When the epochs' numbers begin
// anew, nothing is remembered from the time that had the same ones.
bool probe_page(uintptr_t page) noexcept {
  static std::atomic<uint32_t> g_rounds{0};
  const uint32_t round = interpose::g_memory_epoch.load(std::memory_order_acquire) >> EpochBits;
  if (g_rounds.exchange(round, std::memory_order_relaxed) != round) {
    for (std::atomic<uintptr_t>& known : g_known_pages) known.store(NoPage, std::memory_order_relaxed);
  }
  const uintptr_t remembered = in_this_epoch(page);
  const bool yes = ask_page(page);
  if (yes) g_known_pages[page % KnownPages].store(remembered, std::memory_order_relaxed);
  return yes;
}

bool pages_readable(uintptr_t first, uintptr_t last) noexcept {
  if (last < first) return false;
  for (uintptr_t page = first; page <= last; ++page)
    if (!page_readable(page)) return false;
  return true;
}

}  // namespace detail

void forget_pages(const void* p, size_t size) noexcept {
  using namespace detail;
  const uintptr_t first = reinterpret_cast<uintptr_t>(p) >> PageShift;
  const uintptr_t pages = (size >> PageShift) + 1;  // and one that it ends in
  const auto forget = [&](uintptr_t slot) {
    std::atomic<uintptr_t>& known = g_known_pages[slot];
    const uintptr_t page = known.load(std::memory_order_relaxed) >> EpochBits;
    if (page - first <= pages) known.store(NoPage, std::memory_order_relaxed);
  };
  if (pages >= KnownPages) {
    for (uintptr_t slot = 0; slot < KnownPages; ++slot) forget(slot);
  } else {
    for (uintptr_t i = 0; i <= pages; ++i) forget((first + i) % KnownPages);
  }
}

bool text_length(const char* s, size_t& size) noexcept {
  constexpr uintptr_t PageBytes = uintptr_t{1} << detail::PageShift;
  const char* at = s;
  while (detail::page_readable(reinterpret_cast<uintptr_t>(at) >> detail::PageShift)) {
    const size_t rest = PageBytes - reinterpret_cast<uintptr_t>(at) % PageBytes;
    if (const void* end = std::memchr(at, 0, rest)) {
      size = static_cast<size_t>(static_cast<const char*>(end) - s);
      return true;
    }
    at += rest;
  }
  return false;
}

}  // namespace gt::tracer
