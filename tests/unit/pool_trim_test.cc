// What the pool keeps of freed memory: short memory, idle spans, locked ones, a system that refuses.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "optimizer-rt/pool/pinned_pool.h"
#include "optimizer-rt/pool/system_memory.h"

using namespace gt::opt;

namespace {

constexpr size_t MiB = size_t{1} << 20;
size_t lacking = 0;
std::vector<PinToken> unpinned;
bool may_unpin = true;

struct Pool : PinnedPool {
  explicit Pool(bool lock = false, size_t cache = 1024 * MiB, size_t limit = 1024 * MiB) {
    unpinned.clear();
    lacking = 0;
    may_unpin = true;
    PoolOptions o;
    o.reserve_bytes = o.limit_bytes = limit;
    o.cache_bytes = cache;
    o.lock = lock;
    o.unpin = [](PinToken t) { return may_unpin && (unpinned.push_back(t), true); };
    o.short_of = [] { return lacking; };
    REQUIRE(open(o));
  }
  // A block that was used, and pinned if `pin` is not 0.
  char* used(size_t bytes, PinToken pin = 0) {
    auto* p = static_cast<char*>(allocate(bytes, 0, 0));
    REQUIRE(p);
    std::memset(p, 1, bytes);
    if (pin) REQUIRE(set_pin(extent_of(p), pin));
    return p;
  }
};

void work(Pool& pool, size_t bytes) {
  if (pool.worked(bytes)) pool.trim();
}

}  // namespace

TEST_CASE("while memory is short, as much goes back as is lacking, the largest first") {
  Pool pool;
  char* small = pool.used(8 * MiB, 1);
  char* between = pool.used(MiB);
  char* large = pool.used(32 * MiB, 2);
  pool.release(small);
  pool.release(large);
  CHECK(pool.cached_bytes() == 40 * MiB);
  lacking = 5 * MiB;
  char* other = pool.used(64 * MiB);  // new memory: looked after before it is touched
  CHECK(unpinned == std::vector<PinToken>{2});
  CHECK(pool.cached_bytes() == 8 * MiB);
  CHECK(pool.take_returned().short_memory == 32 * MiB);
  CHECK(pool.take_returned().short_memory == 0);
  lacking = 1024 * MiB;
  pool.release(other);
  CHECK(pool.cached_bytes() == 0);
  CHECK(pool.take_returned().short_memory == 72 * MiB);
  CHECK(pool.is_valid());
  pool.release(between);
}

TEST_CASE("reusing what is there asks nobody for memory, and gives nothing back") {
  Pool pool;
  for (int i = 0; i < 10; ++i) {
    char* p = pool.used(32 * MiB, i == 0 ? 3 : 0);
    pool.release(p);
  }
  CHECK(unpinned.empty());
  CHECK(pool.take_returned().excess == 0);
}

TEST_CASE("a span goes back when the program has worked 256 times its size without it") {
  Pool pool;
  pool.release(pool.used(32 * MiB, 7));
  for (int i = 0; i < 31; ++i) work(pool, 256 * MiB);
  CHECK(pool.cached_bytes() == 32 * MiB);
  work(pool, 256 * MiB);
  CHECK(pool.cached_bytes() == 0);
  CHECK(unpinned == std::vector<PinToken>{7});
  CHECK(pool.take_returned().idle == 32 * MiB);
  CHECK(pool.is_valid());
}

TEST_CASE("a span that is used again and again never becomes idle") {
  Pool pool;
  for (int i = 0; i < 100; ++i) {
    pool.release(pool.used(32 * MiB, i == 0 ? 7 : 0));
    for (int k = 0; k < 20; ++k) work(pool, 256 * MiB);
  }
  CHECK(unpinned.empty());
  CHECK(pool.take_returned().idle == 0);
}

TEST_CASE("idle spans go one at a time") {
  Pool pool;
  std::vector<char*> blocks;
  for (PinToken i = 1; i <= 4; ++i) blocks.push_back(pool.used(16 * MiB, i));
  for (char* p : blocks) pool.release(p);
  pool.worked(size_t{8} << 30);
  for (size_t left = 4; left > 0; --left) {
    CHECK(pool.cached_bytes() == left * 16 * MiB);
    pool.trim();
  }
  CHECK(pool.cached_bytes() == 0);
  pool.trim();
  CHECK(pool.take_returned().idle == 64 * MiB);
}

TEST_CASE("where the driver must not be called, pins and their memory stay") {
  Pool pool;
  pool.release(pool.used(32 * MiB, 7));
  may_unpin = false;
  lacking = MiB;
  pool.trim();
  CHECK(pool.cached_bytes() == 32 * MiB);
  may_unpin = true;
  pool.trim();
  CHECK(pool.cached_bytes() == 0);
  CHECK(pool.is_valid());
}

TEST_CASE("given-back memory is zero and fresh, and does not join what is not") {
  Pool pool;
  char* a = pool.used(32 * MiB);
  char* b = pool.used(16 * MiB);
  pool.release(a);
  lacking = MiB;
  pool.trim();
  lacking = 0;
  pool.release(b);
  CHECK(pool.cached_bytes() == 16 * MiB);  // not 48: the first part holds nothing
  CHECK(pool.is_valid());
  bool fresh = false;
  auto* p = static_cast<char*>(pool.allocate(32 * MiB, 0, 0, &fresh));
  CHECK(p == a);
  CHECK(fresh);
  CHECK(p[777] == 0);
}

TEST_CASE("memory that the driver may still have pinned never goes back: its pages would be others than the driver's") {
  Pool pool(false, 1024 * MiB, 64 * MiB);
  std::vector<char*> blocks;
  for (PinToken i = 1; i <= 63; ++i) blocks.push_back(pool.used(MiB, i));
  for (char* p : blocks) pool.release(p);
  char* whole = pool.used(32 * MiB);  // there is no other room: spans with different pins become one
  pool.release(whole);
  lacking = 64 * MiB;
  pool.trim();
  CHECK(pool.cached_bytes() >= 32 * MiB);
  CHECK(whole[32 * MiB - 1] == 1);
  CHECK(pool.is_valid());
}

TEST_CASE("locked memory is unlocked before it goes, and locked when it is used again") {
  static int locked, unlocked;
  locked = unlocked = 0;
  const SystemMemory real = system_memory;
  system_memory.lock = [](const void*, size_t) { return ++locked, 0; };
  system_memory.unlock = [](const void*, size_t) { return ++unlocked, 0; };
  {
    Pool pool(true);
    pool.release(pool.used(32 * MiB));
    pool.release(pool.used(32 * MiB));
    CHECK(locked == 1);
    lacking = MiB;
    pool.trim();
    CHECK(unlocked == 1);
    CHECK(pool.cached_bytes() == 0);
    pool.used(32 * MiB);
    CHECK(locked == 2);
  }
  system_memory = real;
}

TEST_CASE("memory that the system does not take back is still counted as kept, and nothing loops") {
  const SystemMemory real = system_memory;
  Pool pool(false, MiB);
  system_memory.advise = [](void*, size_t, int) { return -1; };
  lacking = 100 * MiB;
  pool.release(pool.used(32 * MiB));
  CHECK(pool.cached_bytes() == 32 * MiB);
  CHECK(pool.take_returned().short_memory == 0);
  system_memory = real;
  pool.trim();
  CHECK(pool.cached_bytes() == 0);
}
