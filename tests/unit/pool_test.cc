// The pool against a model: random allocations, alignment, contents, threads, fork, limits, pins.
#include "optimizer-rt/pool/pinned_pool.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace gt::opt;

namespace {

constexpr size_t MiB = size_t{1} << 20;

std::unique_ptr<PinnedPool> make_pool(size_t reserve = 256 * MiB, size_t cache = 1024 * MiB) {
  auto pool = std::make_unique<PinnedPool>();
  PoolOptions o;
  o.reserve_bytes = o.limit_bytes = reserve;
  o.cache_bytes = cache;
  REQUIRE(pool->open(o));
  return pool;
}

size_t random_size(std::mt19937& random) {
  const size_t bits = random() % 24;
  return (size_t{1} << bits) + random() % (size_t{1} << bits);
}

// Marks first and last bytes, enough to see overlap.
void stamp(void* p, size_t size, unsigned char mark) {
  std::memset(p, mark, std::min<size_t>(size, 4096));
  std::memset(static_cast<char*>(p) + size - std::min<size_t>(size, 64), mark,
              std::min<size_t>(size, 64));
}
bool stamped(const void* p, size_t size, unsigned char mark) {
  const auto* b = static_cast<const unsigned char*>(p);
  for (size_t i = 0; i < std::min<size_t>(size, 4096); ++i)
    if (b[i] != mark) return false;
  for (size_t i = size - std::min<size_t>(size, 64); i < size; ++i)
    if (b[i] != mark) return false;
  return true;
}

}  // namespace

TEST_CASE("random allocation and release keeps blocks apart, aligned and intact") {
  auto pool = make_pool();
  std::mt19937 random(1);
  struct Live {
    size_t size;
    unsigned char mark;
  };
  std::map<char*, Live> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.size() < 40 && random() % 2) {
      const size_t size = random_size(random);
      const size_t align = random() % 3 ? 0 : size_t{1} << (random() % 22);
      char* p =
          static_cast<char*>(pool->allocate(size, align, static_cast<SiteIndex>(random() % 3)));
      if (!p) continue;
      REQUIRE(pool->owns(p));
      REQUIRE(reinterpret_cast<uintptr_t>(p) % std::max<size_t>(align, 64) == 0);
      REQUIRE(pool->usable_size(p) >= size);
      const auto after = live.lower_bound(p);
      REQUIRE((after == live.end() || p + pool->usable_size(p) <= after->first));
      if (after != live.begin())
        REQUIRE(std::prev(after)->first + std::prev(after)->second.size <= p);
      const auto mark = static_cast<unsigned char>(random());
      stamp(p, size, mark);
      live[p] = {size, mark};
    } else if (!live.empty()) {
      auto it = std::next(live.begin(), static_cast<long>(random() % live.size()));
      REQUIRE(stamped(it->first, it->second.size, it->second.mark));
      const Extent e = pool->extent_of(it->first + it->second.size / 2);
      REQUIRE(e.base <= it->first);
      REQUIRE(e.base + e.bytes >= it->first + it->second.size);
      if (random() % 2) pool->set_pin(e, 1 + random() % 5);
      pool->release(it->first);
      live.erase(it);
    }
    if (step % 64 == 0) REQUIRE(pool->is_valid());
  }
  for (auto& [p, l] : live) {
    REQUIRE(stamped(p, l.size, l.mark));
    pool->release(p);
  }
  CHECK(pool->is_valid());
  CHECK(pool->bad_releases() == 0);
}

TEST_CASE("a freed large block is handed out again with its pin") {
  auto pool = make_pool();
  void* p = pool->allocate(40 * MiB, 0, 0);
  REQUIRE(p);
  CHECK(reinterpret_cast<uintptr_t>(p) % HugePage == 0);
  CHECK(pool->set_pin(pool->extent_of(p), 77));
  pool->release(p);
  void* small = pool->allocate(300 << 10, 0, 0);  // does not break the pinned span
  void* again = pool->allocate(40 * MiB, 0, 0);
  CHECK(again == p);
  CHECK(pool->extent_of(again).pin == 77);
  CHECK(pool->extent_of(small).pin == 0);
  Extent stale = pool->extent_of(again);
  stale.pin = 5;
  CHECK_FALSE(pool->set_pin(stale, 6));
}

TEST_CASE("what does not fit, or is not ours to serve, gives nullptr") {
  auto pool = make_pool(32 * MiB);
  CHECK(pool->allocate(33 * MiB, 0, 0) == nullptr);
  CHECK(pool->allocate(SIZE_MAX, 0, 0) == nullptr);
  CHECK(pool->allocate(64, 4 * MiB, 0) == nullptr);
  CHECK(pool->allocate(64, 0, MaxPoolSites) == nullptr);
  std::vector<void*> all;
  while (void* p = pool->allocate(3 * MiB, 0, 0)) all.push_back(p);
  CHECK(all.size() >= 7);
  for (void* p : all) pool->release(p);
  CHECK(pool->allocate(20 * MiB, 0, 0) != nullptr);  // pieces became one again
  CHECK(pool->is_valid());
  PinnedPool closed;
  CHECK(closed.allocate(64, 0, 0) == nullptr);
  CHECK_FALSE(closed.owns(all[0]));
}

TEST_CASE("under need, free neighbours with different pins become one") {
  auto pool = make_pool(32 * MiB);
  void* a = pool->allocate(14 * MiB, 0, 0);
  void* b = pool->allocate(14 * MiB, 0, 0);
  REQUIRE(b);
  pool->set_pin(pool->extent_of(a), 1);
  pool->set_pin(pool->extent_of(b), 2);
  pool->release(a);
  pool->release(b);
  void* c = pool->allocate(26 * MiB, 0, 0);
  REQUIRE(c);
  CHECK(pool->extent_of(c).pin == 0);
  CHECK(pool->is_valid());
}

TEST_CASE("bad releases are counted, not acted on") {
  auto pool = make_pool();
  char* p = static_cast<char*>(pool->allocate(1000, 0, 0));
  char* q = static_cast<char*>(pool->allocate(5 * MiB, 0, 0));
  pool->release(p + 8);
  pool->release(q + 64);
  pool->release(p);
  pool->release(p);
  pool->release(q);
  pool->release(q);
  CHECK(pool->bad_releases() == 4);
  CHECK(pool->usable_size(p) == 0);
  CHECK(pool->usable_size(q) == 0);
  CHECK(pool->is_valid());
}

namespace {
uint64_t unpinned = 0;
}

TEST_CASE("cached memory above the limit goes back, unpinned first") {
  auto pool = std::make_unique<PinnedPool>();
  PoolOptions o;
  o.reserve_bytes = o.limit_bytes = 256 * MiB;
  o.cache_bytes = 10 * MiB;
  o.unpin = [](PinToken t) { return ++unpinned, t == 9; };
  REQUIRE(pool->open(o));
  char* p = static_cast<char*>(pool->allocate(32 * MiB, 0, 0));
  std::memset(p, 1, 32 * MiB);
  pool->set_pin(pool->extent_of(p), 9);
  pool->release(p);
  CHECK(unpinned == 1);
  CHECK(pool->cached_bytes() <= 10 * MiB);
  CHECK(pool->live_bytes() == 0);
  CHECK(pool->is_valid());
  bool fresh = false;
  CHECK(pool->allocate(32 * MiB, 0, 0, &fresh) == p);
  CHECK(fresh);
  CHECK(p[12345] == 0);
  pool->set_pin(pool->extent_of(p), 8);
  pool->release(p);  // refused: kept as it is
  CHECK(unpinned == 2);
  CHECK(pool->cached_bytes() == 32 * MiB);
  CHECK(pool->is_valid());
}

TEST_CASE("threads allocate and release each other's blocks") {
  auto pool = make_pool();
  std::vector<std::atomic<char*>> shelf(64);
  std::atomic<bool> damaged{false};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 20000; ++i) {
      const size_t size = 16 + random() % (random() % 8 ? 5000 : 600000);
      char* p = static_cast<char*>(pool->allocate(size, 0, static_cast<SiteIndex>(random() % 2)));
      if (p) {
        std::memcpy(p, &size, sizeof size);
        std::memset(p + 8, static_cast<int>(size & 0xff), std::min<size_t>(size - 8, 100));
      }
      char* old = shelf[random() % 64].exchange(p);
      if (!old) continue;
      size_t n;
      std::memcpy(&n, old, sizeof n);
      for (size_t k = 8; k < std::min<size_t>(n, 108); ++k)
        if (static_cast<unsigned char>(old[k]) != static_cast<unsigned char>(n)) damaged = true;
      pool->release(old);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (auto& t : threads) t.join();
  for (auto& p : shelf)
    if (p) pool->release(p);
  CHECK_FALSE(damaged);
  CHECK(pool->is_valid());
  CHECK(pool->bad_releases() == 0);
}

TEST_CASE("after fork both sides go on with their own copy") {
  auto pool = make_pool();
  char* p = static_cast<char*>(pool->allocate(3 * MiB, 0, 0));
  std::memset(p, 1, 3 * MiB);
  pool->lock_for_fork();
  const pid_t child = ::fork();
  pool->unlock_after_fork();
  if (child == 0) {
    bool good = p[100] == 1;
    std::memset(p, 2, 3 * MiB);
    void* q = pool->allocate(5 * MiB, 0, 0);
    good = good && q && q != p;
    pool->release(p);
    pool->release(q);
    ::_exit(good && pool->is_valid() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(p[100] == 1);
  pool->release(p);
}

TEST_CASE("a pool over given memory never leaves it") {
  std::vector<char> memory(12 * MiB);
  PinnedPool pool;
  REQUIRE(pool.open_over(memory.data(), memory.size(), 5));
  std::vector<void*> all;
  while (void* p = pool.allocate(MiB, 0, 0)) {
    CHECK(p >= static_cast<void*>(memory.data()));
    CHECK(static_cast<char*>(p) + MiB <= memory.data() + memory.size());
    CHECK(pool.extent_of(p).pin == 5);
    all.push_back(p);
  }
  CHECK(all.size() >= 8);
  for (void* p : all) pool.release(p);
  CHECK(pool.is_valid());
}
