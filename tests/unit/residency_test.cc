// What the kernel says of pages, touched and not.
#include "optimizer-rt/pool/residency.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include <doctest/doctest.h>

using namespace gt::opt;

namespace {

struct Pages {
  static constexpr size_t Bytes = size_t{8} << 20;
  char* base = nullptr;
  Pages() {
    void* const p = ::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(p != MAP_FAILED);
    base = static_cast<char*>(p);
    ::madvise(base, Bytes, MADV_NOHUGEPAGE);
  }
  ~Pages() { ::munmap(base, Bytes); }
};

}  // namespace

TEST_CASE("untouched pages are fresh, touched ones resident") {
  const Pages pages;
  CHECK(seems_fresh(pages.base, Pages::Bytes));
  CHECK_FALSE(is_resident(pages.base, Pages::Bytes));
  std::memset(pages.base, 1, Pages::Bytes);
  CHECK_FALSE(seems_fresh(pages.base, Pages::Bytes));
  CHECK(is_resident(pages.base, Pages::Bytes));
}

TEST_CASE("an eighth may be missing") {
  const Pages pages;
  std::memset(pages.base, 1, Pages::Bytes / 16 * 15);
  CHECK(is_resident(pages.base, Pages::Bytes));
  ::madvise(pages.base, Pages::Bytes / 4, MADV_DONTNEED);
  CHECK_FALSE(is_resident(pages.base, Pages::Bytes));
}

TEST_CASE("a part of a page counts by its page") {
  const Pages pages;
  CHECK(seems_fresh(pages.base + 100, 50));
  pages.base[0] = 1;
  CHECK_FALSE(seems_fresh(pages.base + 100, 50));
  CHECK(is_resident(pages.base + 100, 50));
}

TEST_CASE("what is not mapped is neither") {
  Pages pages;
  ::munmap(pages.base, Pages::Bytes);
  CHECK_FALSE(seems_fresh(pages.base, Pages::Bytes));
  CHECK_FALSE(is_resident(pages.base, Pages::Bytes));
  pages.base = static_cast<char*>(::mmap(nullptr, Pages::Bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
