// Memory that may be read, and memory that may not.
#include "tracer/lib/readable.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tracer/interpose/memory_epoch.h"

using gt::tracer::forget_block;
using gt::tracer::forget_pages;
using gt::tracer::readable;
using gt::tracer::text_length;

TEST_CASE("pages are readable or they are not") {
  constexpr size_t Page = 4096;
  auto* pages = static_cast<char*>(mmap(nullptr, 4 * Page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(mprotect(pages + 2 * Page, Page, PROT_NONE) == 0);
  errno = 5;
  CHECK(readable(pages, 2 * Page));
  CHECK(readable(pages + 2 * Page - 1, 1));
  CHECK_FALSE(readable(pages + 2 * Page - 1, 2));
  CHECK_FALSE(readable(pages, 4 * Page));
  CHECK(readable(pages + 3 * Page, Page));
  CHECK_FALSE(readable(reinterpret_cast<void*>(8), 8));
  CHECK_FALSE(readable(reinterpret_cast<void*>(~0ull), 8));
  CHECK_FALSE(readable(reinterpret_cast<void*>(0xdeadbeefdeadbeefull), 8));
  CHECK_FALSE(readable(pages, ~size_t{0}));
  CHECK_FALSE(readable(pages, size_t{1} << 40));
  CHECK(errno == 5);

  size_t length = 0;
  std::memset(pages, 'x', 2 * Page);
  CHECK_FALSE(text_length(pages + Page, length));  // runs into the page that is not there
  pages[2 * Page - 1] = 0;
  REQUIRE(text_length(pages + 10, length));
  CHECK(length == 2 * Page - 11);
  CHECK_FALSE(text_length(reinterpret_cast<const char*>(1), length));
  munmap(pages, 4 * Page);
}

TEST_CASE("memory that was given back is asked about again") {
  constexpr size_t Page = 4096;
  for (const size_t pages : {size_t{1}, size_t{3}, size_t{2000}}) {
    void* p = mmap(nullptr, pages * Page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(p != MAP_FAILED);
    CHECK(readable(p, pages * Page));
    forget_pages(p, pages * Page);
    munmap(p, pages * Page);
    CHECK_FALSE(readable(static_cast<char*>(p) + (pages - 1) * Page, 1));
    CHECK_FALSE(readable(p, 8));
  }
  CHECK_FALSE(readable(nullptr, 8));
}

TEST_CASE("a large block of the C library's is forgotten when it is freed") {
  constexpr size_t Bytes = 4 << 20;  // beyond M_MMAP_THRESHOLD, which no free has raised yet
  auto* block = static_cast<char*>(std::malloc(Bytes));
  REQUIRE(block);
  CHECK(readable(block, Bytes));
  const auto place = reinterpret_cast<uintptr_t>(block);
  forget_block(block);
  std::free(block);
  CHECK_FALSE(readable(reinterpret_cast<void*>(place), 8));
  CHECK_FALSE(readable(reinterpret_cast<void*>(place + Bytes - 8), 8));
  void* small = std::malloc(100);
  CHECK(readable(small, 100));
  forget_block(small);
  CHECK(readable(small, 100));
  std::free(small);
}

TEST_CASE("in a new epoch every page is asked about again, and epochs may begin anew") {
  constexpr size_t Page = 4096;
  constexpr uint32_t EpochsOfARound = 1u << gt::tracer::detail::EpochBits;
  const auto map = [](size_t bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(p != MAP_FAILED);
    return static_cast<char*>(p);
  };
  char* never_asked = map(2 * Page);
  for (const uint32_t later : {1u, EpochsOfARound}) {
    void* p = map(Page);
    CHECK(readable(p, Page));
    munmap(p, Page);
    gt::interpose::g_memory_epoch.fetch_add(later);
    CHECK(readable(never_asked, Page));  // any page that is asked about tells of the new round
    never_asked += Page;
    CHECK_FALSE(readable(p, 8));
  }
}

TEST_CASE("an address that no program has is not taken for one that it has") {
  int here = 0;
  REQUIRE(readable(&here, sizeof here));
  const auto address = reinterpret_cast<uintptr_t>(&here);
  for (unsigned bit = 57; bit < 64; ++bit)
    CHECK_FALSE(readable(reinterpret_cast<void*>(address | uintptr_t{1} << bit), sizeof here));
}

TEST_CASE("the end of a heap that has shrunk is asked about again") {
  constexpr size_t Blocks = 400, Bytes = 100'000;
  std::vector<char*> blocks;
  for (size_t i = 0; i < Blocks; ++i) blocks.push_back(static_cast<char*>(std::malloc(Bytes)));
  char* const last = *std::max_element(blocks.begin(), blocks.end());
  const auto place = reinterpret_cast<uintptr_t>(last);
  CHECK(readable(last, Bytes));
  while (!blocks.empty()) std::free(blocks.back()), blocks.pop_back();
  if (place + Bytes <= reinterpret_cast<uintptr_t>(__curbrk)) return;  // it stays
  CHECK_FALSE(readable(reinterpret_cast<void*>(place + Bytes - 8), 8));
}
