// Touching fresh mappings, and asking the kernel what it gave.
#include "tracer/gtrace/record/touch_costs.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace gt::tracer {

namespace {

using model::HugePageBytes;
using model::PageBytes;

// More than the kernel keeps at hand of pages that were just given back: these are in the processor's cache, and cheap.
constexpr size_t Ordinary = 8 << 20, Part = 1 << 20;
constexpr size_t HugePages = 4;  // one more than these are mapped: they are aligned

class Fresh {
 public:
  explicit Fresh(size_t bytes) : bytes_(bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data_ = p == MAP_FAILED ? nullptr : static_cast<char*>(p);
  }
  ~Fresh() {
    if (data_) munmap(data_, bytes_);
  }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  char* data() const { return data_; }

 private:
  size_t bytes_;
  char* data_;
};

uint64_t touch_ns(char* begin, size_t bytes) {
  const auto start = std::chrono::steady_clock::now();
  for (size_t at = 0; at < bytes; at += PageBytes) static_cast<volatile char*>(begin)[at] = 1;
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  return static_cast<uint64_t>(took.count());
}

// The lower quartile: other programs interrupt, and make some of them much longer.
uint64_t undisturbed(std::vector<uint64_t> took) {
  std::sort(took.begin(), took.end());
  return took[took.size() / 4];
}

// 0: there was no memory.
uint64_t page_ns() {
  const Fresh pages(Ordinary);
  if (!pages.data()) return 0;
  madvise(pages.data(), Ordinary, MADV_NOHUGEPAGE);
  std::vector<uint64_t> took;
  for (size_t at = 0; at < Ordinary; at += Part) took.push_back(touch_ns(pages.data() + at, Part) / (Part / PageBytes));
  return std::max<uint64_t>(undisturbed(took), 1);
}

// After one byte was touched: are all pages there?
bool is_huge(char* page) {
  std::vector<unsigned char> present(HugePageBytes / PageBytes);
  return mincore(page, HugePageBytes, present.data()) == 0 &&
         std::all_of(present.begin(), present.end(), [](unsigned char p) { return p & 1; });
}

std::optional<uint64_t> huge_page_ns() {
  const Fresh pages((HugePages + 1) * HugePageBytes);
  if (!pages.data()) return std::nullopt;
  char* const begin = pages.data() + (-reinterpret_cast<uintptr_t>(pages.data()) & (HugePageBytes - 1));
  if (madvise(begin, HugePages * HugePageBytes, MADV_HUGEPAGE) != 0) return std::nullopt;
  std::vector<uint64_t> took;
  for (size_t i = 0; i < HugePages; ++i) {
    char* const page = begin + i * HugePageBytes;
    const uint64_t first = touch_ns(page, PageBytes);
    if (!is_huge(page)) return std::nullopt;
    took.push_back(first + touch_ns(page, HugePageBytes));
  }
  return undisturbed(took);
}

}  // namespace

model::TouchCosts measure_touch_costs() {
  model::TouchCosts out;
  out.page_ns = page_ns();
  if (out.page_ns > 0) out.huge_page_ns = huge_page_ns();
  return out;
}

}  // namespace gt::tracer
