// Asking for stretches, evenly spread.
#include "tracer/lib/fresh_memory.h"

#include <errno.h>
#include <sys/mman.h>

#include <algorithm>

namespace gt::tracer {

namespace {

constexpr uintptr_t Page = 4096;
constexpr size_t StretchPages = 64;
constexpr size_t LeastStretches = 2, MostStretches = 8;  // the beginning and the end, and one more for each...
constexpr size_t PagesEach = 2048;                       // ...8 MiB: looking is to take little of the transfer's time
static_assert(LeastFreshBytes / Page >= LeastStretches * StretchPages && PagesEach >= StretchPages);  // they lie apart

bool is_missing(unsigned char page) { return !(page & 1); }

}  // namespace

std::optional<uint64_t> fresh_bytes(const void* p, size_t size) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(p);
  if (begin + (size - 1) < begin) return std::nullopt;
  const uintptr_t first = begin / Page, pages = (begin + (size - 1)) / Page - first + 1;
  const size_t stretches = std::clamp(pages / PagesEach, LeastStretches, MostStretches);
  const int saved = errno;
  size_t missing = 0;
  bool told = true;
  for (size_t i = 0; i < stretches && told; ++i) {
    const uintptr_t at = first + (pages - StretchPages) / (stretches - 1) * i;
    unsigned char present[StretchPages];
    told = mincore(reinterpret_cast<void*>(at * Page), StretchPages * Page, present) == 0;
    if (told) missing += static_cast<size_t>(std::count_if(present, present + StretchPages, is_missing));
  }
  errno = saved;
  if (!told) return std::nullopt;
  const double part = static_cast<double>(missing) / static_cast<double>(stretches * StretchPages);
  return static_cast<uint64_t>(part * static_cast<double>(size));
}

namespace detail {

void record_fresh(uint16_t fn, const void* p, size_t size) noexcept {
  const uint64_t began = ticks();
  const std::optional<uint64_t> fresh = fresh_bytes(p, size);
  if (!fresh) return;
  const uint64_t now = ticks();
  record(RecordType::Fresh, fn, now, size, *fresh, now - began);
}

}  // namespace detail

}  // namespace gt::tracer
