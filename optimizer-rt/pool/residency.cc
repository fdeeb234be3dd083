#include "optimizer-rt/pool/residency.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace gt::opt {
namespace {

bool is_missing(unsigned char page) { return (page & 1) == 0; }
size_t page_bytes() { return static_cast<size_t>(::getpagesize()); }

}  // namespace

bool is_resident(const void* base, size_t bytes, size_t part) noexcept {
  constexpr size_t Pages = 4096;  // asked at a time
  unsigned char in_memory[Pages];
  const size_t page = page_bytes();
  const uintptr_t begin = reinterpret_cast<uintptr_t>(base), end = begin + bytes;
  size_t missing = bytes / page / part;  // as many may be
  for (uintptr_t p = begin & ~(page - 1); p < end;) {
    const size_t n = std::min(Pages, (end - p + page - 1) / page);
    if (::mincore(reinterpret_cast<void*>(p), n * page, in_memory) != 0) return false;
    const auto gone = static_cast<size_t>(std::count_if(in_memory, in_memory + n, is_missing));
    if (gone > missing) return false;
    missing -= gone;
    p += n * page;
  }
  return true;
}

bool seems_fresh(const void* base, size_t bytes) noexcept {
  constexpr size_t Parts = 4, Most = 2;
  const size_t page = page_bytes();
  size_t missing = 0;
  for (size_t i = 1; i < Parts; ++i) {
    const uintptr_t at = (reinterpret_cast<uintptr_t>(base) + bytes / Parts * i) & ~(page - 1);
    unsigned char in_memory = 1;
    if (::mincore(reinterpret_cast<void*>(at), page, &in_memory) == 0 && is_missing(in_memory)) ++missing;
  }
  return missing >= Most;
}

}  // namespace gt::opt
