// Touching fresh mappings, and asking the kernel what it gave.
#include "tracer/gtrace/record/touch_costs.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

namespace gt::tracer {

namespace {

using model::HugePageBytes;
using model::PageBytes;

constexpr size_t Rounds = 3;
constexpr size_t Ordinary = 1 << 20;  // bytes of a round

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

// 0: there was no memory.
uint64_t page_ns() {
  std::array<uint64_t, Rounds> took{};
  for (uint64_t& ns : took) {
    const Fresh pages(Ordinary);
    if (!pages.data()) return 0;
    madvise(pages.data(), Ordinary, MADV_NOHUGEPAGE);
    ns = touch_ns(pages.data(), Ordinary) / (Ordinary / PageBytes);
  }
  std::nth_element(took.begin(), took.begin() + Rounds / 2, took.end());
  return std::max<uint64_t>(took[Rounds / 2], 1);
}

// After one byte was touched: are all pages there?
bool is_huge(char* page) {
  std::vector<unsigned char> present(HugePageBytes / PageBytes);
  return mincore(page, HugePageBytes, present.data()) == 0 &&
         std::all_of(present.begin(), present.end(), [](unsigned char p) { return p & 1; });
}

std::optional<uint64_t> huge_page_ns() {
  std::array<uint64_t, Rounds> took{};
  for (uint64_t& ns : took) {
    const Fresh pages(2 * HugePageBytes);  // an aligned one is in it
    if (!pages.data()) return std::nullopt;
    char* const page = pages.data() + (-reinterpret_cast<uintptr_t>(pages.data()) & (HugePageBytes - 1));
    if (madvise(page, HugePageBytes, MADV_HUGEPAGE) != 0) return std::nullopt;
    ns = touch_ns(page, PageBytes);
    if (!is_huge(page)) return std::nullopt;
    ns += touch_ns(page, HugePageBytes);
  }
  std::nth_element(took.begin(), took.begin() + Rounds / 2, took.end());
  return took[Rounds / 2];
}

}  // namespace

model::TouchCosts measure_touch_costs() {
  model::TouchCosts out;
  out.page_ns = page_ns();
  if (out.page_ns > 0) out.huge_page_ns = huge_page_ns();
  return out;
}

}  // namespace gt::tracer
