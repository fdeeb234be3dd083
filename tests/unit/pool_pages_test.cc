// What a program does to pages of its blocks by itself: the pool answers as the system does for libc's memory.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "optimizer-rt/pool/pinned_pool.h"
#include "optimizer-rt/pool/range_set.h"

using namespace gt::opt;

namespace {

constexpr size_t MiB = size_t{1} << 20, Page = 4096;
constexpr int WipeOnFork = 18, Usual = PROT_READ | PROT_WRITE;

bool deregisterable = true;

std::unique_ptr<PinnedPool> make_pool(bool shared, bool lock = false) {
  deregisterable = true;
  auto pool = std::make_unique<PinnedPool>();
  PoolOptions o;
  o.reserve_bytes = o.limit_bytes = o.cache_bytes = 128 * MiB;
  o.shared = shared;
  o.lock = lock;
  o.deregister = [](void*, size_t) { return deregisterable; };
  o.unpin = [](PinToken) { return true; };
  REQUIRE(pool->open(o));
  REQUIRE(pool->is_shared() == shared);
  return pool;
}

PinToken let_go_pin = 0;
bool let_go(const Extent& extent) { return let_go_pin = extent.pin, deregisterable; }

struct Pages {
  PinnedPool& pool;
  char* block;
  char* at;  // some pages of it
  size_t bytes = MiB;

  explicit Pages(PinnedPool& p, size_t size = 4 * MiB)
      : pool(p), block(static_cast<char*>(p.allocate(size, 0, 0))), at(block + 2 * Page) {
    REQUIRE(block);
    std::memset(block, 5, size);
  }
  void set_aside() { pool.set_aside(at, bytes, let_go); }
};

size_t count(const char* p, size_t bytes, char value) {
  size_t n = 0;
  for (size_t i = 0; i < bytes; ++i) n += p[i] == value;
  return n;
}

// The child's exit status; 128 and more: a signal ended it.
template <class Look>
int in_child(PinnedPool& pool, Look look) {
  pool.lock_for_fork();
  const pid_t child = ::fork();
  pool.unlock_after_fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    ::_exit(look());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("ranges are joined, cut and walked through") {
  RangeSet set;
  std::set<size_t> model;
  std::mt19937 random(7);
  for (int step = 0; step < 3000; ++step) {
    const size_t begin = random() % 200, end = begin + random() % 20;
    const bool add = random() % 2;
    CHECK((add ? set.add(begin, end) : set.remove(begin, end)));
    for (size_t i = begin; i < end; ++i) add ? void(model.insert(i)) : void(model.erase(i));
    std::set<size_t> inside, outside;
    set.each_inside(50, 150, [&](size_t a, size_t b) {
      REQUIRE(a < b);
      for (; a < b; ++a) inside.insert(a);
    });
    set.each_outside(50, 150, [&](size_t a, size_t b) {
      REQUIRE(a < b);
      for (; a < b; ++a) outside.insert(a);
    });
    for (size_t i = 50; i < 150; ++i) {
      REQUIRE(inside.contains(i) == model.contains(i));
      REQUIRE(outside.contains(i) != model.contains(i));
    }
  }
  RangeSet full;
  for (size_t i = 0; i < RangeSet::Most; ++i) REQUIRE(full.add(3 * i, 3 * i + 2));
  CHECK_FALSE(full.add(3 * RangeSet::Most, 3 * RangeSet::Most + 1));
  CHECK_FALSE(full.has_room());
}

TEST_CASE("pages that are given back read as zeros") {
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    auto pool = make_pool(shared);
    Pages p(*pool);
    p.set_aside();
    CHECK(pool->advise(p.at, p.bytes - 100, MADV_DONTNEED) == 0);
    CHECK(count(p.at, p.bytes, 0) == p.bytes);
    CHECK(count(p.block, 4 * MiB, 5) == 4 * MiB - p.bytes);
    std::memset(p.at, 6, p.bytes);
    CHECK(pool->advise(p.at, p.bytes, MADV_FREE) == 0);
    std::memset(p.at, 7, p.bytes);
    CHECK(count(p.at, p.bytes, 7) == p.bytes);
    CHECK(pool->is_valid());
  }
}

TEST_CASE("what libc's memory refuses is refused") {
  auto pool = make_pool(true);
  Pages p(*pool);
  p.set_aside();
  errno = 0;
  CHECK((pool->advise(p.at, p.bytes, MADV_REMOVE) == -1 && errno == EINVAL));
  CHECK((pool->advise(p.at + 1, p.bytes, MADV_DONTNEED) == -1 && errno == EINVAL));
  CHECK((pool->unmap(p.at + 1, p.bytes) == -1 && errno == EINVAL));
  CHECK((pool->unmap(p.at, 0) == -1 && errno == EINVAL));
  CHECK((pool->remap(p.at, 0, Page, MREMAP_MAYMOVE, nullptr) == MAP_FAILED && errno == EINVAL));
  CHECK((pool->remap(p.at, Page, 2 * Page, 0, nullptr) == MAP_FAILED && errno == ENOMEM));
  CHECK(count(p.block, 4 * MiB, 5) == 4 * MiB);
}

TEST_CASE("locked pages can be given back, too") {
  auto pool = make_pool(false, true);
  Pages p(*pool);
  p.set_aside();
  CHECK(pool->advise(p.at, p.bytes, MADV_DONTNEED) == 0);
  CHECK(count(p.at, p.bytes, 0) == p.bytes);
}

TEST_CASE("a span that is set aside has no pin and gets none; free, it is used again only when it is whole") {
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    auto pool = make_pool(shared);
    Pages p(*pool);
    Extent extent = pool->extent_of(p.block);
    REQUIRE(pool->set_pin(extent, 42));
    p.set_aside();
    CHECK(let_go_pin == 42);
    extent = pool->extent_of(p.block + MiB);
    CHECK((extent.aside && extent.pin == 0));
    CHECK_FALSE(pool->set_pin(extent, 43));
    REQUIRE(pool->protect(p.at, p.bytes, PROT_NONE, -1) == 0);
    deregisterable = !shared;  // somebody still has it
    pool->release(p.block);
    auto* const other = static_cast<char*>(pool->allocate(4 * MiB, 0, 0));
    REQUIRE(other);
    CHECK((other != p.block) == shared);
    deregisterable = true;
    pool->release(other);
    auto* const again = static_cast<char*>(pool->allocate(8 * MiB, 0, 0));
    REQUIRE(again);
    std::memset(again, 1, 8 * MiB);
    auto* const back = static_cast<char*>(pool->allocate(4 * MiB, 0, 0));
    REQUIRE(back);
    std::memset(back, 1, 4 * MiB);
    CHECK_FALSE(pool->extent_of(back).aside);
    CHECK(pool->is_valid());
  }
}

TEST_CASE("of a slab that is set aside no more blocks are made, and its last one takes it back") {
  auto pool = make_pool(true);
  constexpr size_t Small = 200 << 10;
  std::vector<char*> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(static_cast<char*>(pool->allocate(Small, 0, 0)));
  char* const pages = blocks[1] + (Page - reinterpret_cast<uintptr_t>(blocks[1]) % Page) % Page;
  pool->set_aside(pages, Page, let_go);
  REQUIRE(pool->protect(pages, 8 * Page, PROT_NONE, -1) == 0);
  const Extent slab = pool->extent_of(blocks[0]);
  for (char* p : blocks) pool->release(p);
  for (int i = 0; i < 40; ++i) {
    auto* const p = static_cast<char*>(pool->allocate(Small, 0, 0));
    REQUIRE(p);
    std::memset(p, 1, Small);  // of pages that can be written
    CHECK_FALSE(pool->extent_of(p).aside);
  }
  CHECK(slab.bytes > 0);
  CHECK(pool->is_valid());
}

TEST_CASE("a child has what its parent has done to pages") {
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    auto pool = make_pool(shared);
    Pages p(*pool);
    p.set_aside();
    REQUIRE(pool->protect(p.at, p.bytes, PROT_READ, -1) == 0);
    CHECK(in_child(*pool, [&] { return count(p.block, 4 * MiB, 5) == 4 * MiB ? 0 : 1; }) == 0);
    CHECK(in_child(*pool, [&] { return p.at[Page] = 6; }) == 128 + SIGSEGV);
    CHECK(in_child(*pool, [&] { return p.block[3 * MiB] = 6; }) == 6);
    REQUIRE(pool->protect(p.at, p.bytes, Usual, -1) == 0);
    CHECK(in_child(*pool, [&] { return p.at[Page] = 7; }) == 7);
    CHECK(count(p.block, 4 * MiB, 5) == 4 * MiB);
    char* const wiped = p.at + 2 * MiB;
    REQUIRE(pool->advise(wiped, 4 * Page, WipeOnFork) == 0);
    REQUIRE(pool->advise(wiped + 4 * Page, Page, MADV_DONTFORK) == 0);
    CHECK(in_child(*pool, [&] { return count(wiped, 4 * Page, 0) == 4 * Page && wiped[-1] == 5 ? 0 : 1; }) == 0);
    CHECK(in_child(*pool, [&] { return wiped[4 * Page]; }) == 128 + SIGSEGV);
    REQUIRE(pool->advise(wiped, 4 * Page, 19) == 0);  // MADV_KEEPONFORK
    REQUIRE(pool->advise(wiped + 4 * Page, Page, MADV_DOFORK) == 0);
    CHECK(in_child(*pool, [&] { return count(wiped, 5 * Page, 5) == 5 * Page ? 0 : 1; }) == 0);
    CHECK(in_child(*pool, [&] {
            pool->release(p.block);
            auto* const q = static_cast<char*>(pool->allocate(4 * MiB, 0, 0));
            return q ? std::memset(q, 1, 4 * MiB), 3 : 4;
          }) == 3);
    CHECK(count(p.block, 4 * MiB, 5) == 4 * MiB);
    CHECK(pool->is_valid());
  }
}

TEST_CASE("pages are moved, unmapped and mapped over, and nobody else gets their place") {
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    auto pool = make_pool(shared);
    Pages p(*pool);
    p.at[5] = 9;
    p.set_aside();
    auto* const moved = static_cast<char*>(pool->remap(p.at, p.bytes, 2 * p.bytes, MREMAP_MAYMOVE, nullptr));
    REQUIRE(moved != MAP_FAILED);
    CHECK((moved < p.block || moved >= p.block + 4 * MiB));
    CHECK(moved[5] == 9);
    CHECK(count(moved, p.bytes, 5) == p.bytes - 1);
    CHECK(count(moved + p.bytes, p.bytes, 0) == p.bytes);
    CHECK(in_child(*pool, [&] { return moved[7] = 3; }) == 3);
    CHECK(moved[7] == 5);
    CHECK(in_child(*pool, [&] { return p.at[0]; }) == 128 + SIGSEGV);
    CHECK(::mmap(p.at, Page, Usual, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != p.at);
    REQUIRE(pool->unmap(p.at + 2 * MiB, 10) == 0);
    CHECK(in_child(*pool, [&] { return p.at[2 * MiB + Page - 1]; }) == 128 + SIGSEGV);
    CHECK(in_child(*pool, [&] { return p.at[2 * MiB + Page]; }) == 5);
    CHECK(::mmap(p.at, p.bytes, Usual, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p.at);
    pool->replaced(p.at, p.bytes);
    std::memset(p.at, 4, p.bytes);
    CHECK(in_child(*pool, [&] {
            const bool good = count(p.at, p.bytes, 4) == p.bytes;
            std::memset(p.at, 3, p.bytes);
            return good ? 0 : 1;
          }) == 0);
    CHECK(count(p.at, p.bytes, 4) == p.bytes);
    pool->release(p.block);
    Pages next(*pool);
    CHECK_FALSE(pool->extent_of(next.block).aside);
    CHECK(count(next.block, 4 * MiB, 5) == 4 * MiB);
    ::munmap(moved, 2 * p.bytes);
    CHECK(pool->is_valid());
  }
}

TEST_CASE("what is under way to protected pages arrives there") {
  auto pool = make_pool(true);
  Pages p(*pool);
  deregisterable = false;
  p.set_aside();
  size_t offset = 0;
  const int file = pool->file_of(pool->extent_of(p.block), &offset);
  REQUIRE(pool->protect(p.at, p.bytes, PROT_READ, -1) == 0);
  const char late = 8;
  REQUIRE(::pwrite(file, &late, 1, static_cast<off_t>(offset) + (p.at - p.block)) == 1);
  CHECK(p.at[0] == 8);
  CHECK(in_child(*pool, [&] { return p.at[1] = 6; }) == 128 + SIGSEGV);
}

TEST_CASE("protected pages can be dropped, and keep their protection where they are moved") {
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    auto pool = make_pool(shared);
    Pages p(*pool);
    p.set_aside();
    REQUIRE(pool->protect(p.at, p.bytes, PROT_READ, -1) == 0);
    REQUIRE(pool->advise(p.at, 4 * Page, MADV_DONTNEED) == 0);
    CHECK(count(p.at, 4 * Page, 0) == 4 * Page);
    auto* const moved = static_cast<char*>(pool->remap(p.at, p.bytes, 2 * p.bytes, MREMAP_MAYMOVE, nullptr));
    REQUIRE(moved != MAP_FAILED);
    CHECK(count(moved, p.bytes, 5) == p.bytes - 4 * Page);
    CHECK(in_child(*pool, [&] { return moved[5 * Page] = 6; }) == 128 + SIGSEGV);
    ::munmap(moved, 2 * p.bytes);
    pool->release(p.block);
    CHECK(pool->is_valid());
  }
}
