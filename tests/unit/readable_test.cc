// Memory that may be read, and memory that may not.
#include "tracer/lib/readable.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

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
