// Which freed blocks are kept, for whom, and for how long. They are malloc's own.
#include "optimizer-rt/pool/kept_blocks.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "optimizer-rt/pool/huge_pages.h"

using namespace gt::opt;

namespace {

constexpr size_t MiB = size_t{1} << 20;
constexpr uint64_t Soon = 1'000'000, Late = KeptBlocks::Patience_ns + 1;

std::vector<void*> g_released;

struct Fixture {
  Fixture() {
    g_released.clear();
    pages->open(HugePages::Budget, {counters.get(), counters.get() + 1, counters.get() + 4});
    kept->open(pages.get(), [](void* p) { g_released.push_back(p); std::free(p); }, &blocks(), &bytes());
  }
  ~Fixture() { kept->give_back(KeptBlocks::Always); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  Counter& blocks() const { return counters[2]; }
  Counter& bytes() const { return counters[3]; }

  // As libc makes it, filled.
  void* fresh(size_t size) {
    kept->made(size, now += Soon);
    void* const p = std::malloc(size);
    REQUIRE(p);
    std::memset(p, 1, size);
    return p;
  }
  // As the program frees it. True: it is kept.
  bool free(void* p, size_t size) {
    now += Soon;
    if (kept->freed(size, now) && kept->keep(p, size, now)) return true;
    std::free(p);
    return false;
  }
  void rounds(size_t size, int n) {
    for (int i = 0; i < n; ++i) CHECK_FALSE(free(fresh(size), size));
  }

  const std::unique_ptr<Counter[]> counters = std::make_unique<Counter[]>(5);
  const std::unique_ptr<HugePages> pages = std::make_unique<HugePages>();
  const std::unique_ptr<KeptBlocks> kept = std::make_unique<KeptBlocks>();
  uint64_t now = 1'000'000'000;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a block whose size came again in time is kept for the next of that size") {
  void* const first = fresh(16 * MiB);
  CHECK_FALSE(free(first, 16 * MiB));
  rounds(16 * MiB, KeptBlocks::Rounds - 1);
  void* const p = fresh(16 * MiB);
  REQUIRE(free(p, 16 * MiB));
  CHECK(kept->any());
  CHECK(kept->take(16 * MiB + 1, 0) == nullptr);
  CHECK(kept->take(16 * MiB, size_t{1} << 40) == nullptr);  // so aligned is none
  CHECK(kept->take(16 * MiB, 16) == p);
  CHECK_FALSE(kept->any());
  CHECK(kept->take(16 * MiB, 0) == nullptr);
  CHECK(get(blocks()) == 1);
  CHECK(get(bytes()) == 16 * MiB);
  CHECK(free(p, 16 * MiB));  // the loop goes on
  CHECK(g_released.empty());
}

TEST_CASE_FIXTURE(Fixture, "a loop that is over has its block given back, and must prove itself again") {
  rounds(16 * MiB, KeptBlocks::Rounds);
  void* const p = fresh(16 * MiB);
  REQUIRE(free(p, 16 * MiB));
  kept->give_back(now - Soon);  // who asked for the time before it was freed
  kept->give_back(now + Soon);
  CHECK(g_released.empty());
  kept->give_back(now + Late);
  CHECK(g_released == std::vector<void*>{p});
  CHECK_FALSE(kept->any());
  rounds(16 * MiB, KeptBlocks::Rounds - 1);
  CHECK(free(fresh(16 * MiB), 16 * MiB));
}

TEST_CASE_FIXTURE(Fixture, "sizes that come again after a long time are no loop") {
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(free(fresh(16 * MiB), 16 * MiB));
    now += Late;
  }
}

TEST_CASE_FIXTURE(Fixture, "more than the budget of huge pages is not kept, with what else it has lent") {
  for (size_t size : {40 * MiB, 24 * MiB, 12 * MiB}) rounds(size, KeptBlocks::Rounds);
  std::vector<void*> three = {fresh(40 * MiB), fresh(24 * MiB), fresh(12 * MiB)};
  CHECK(free(three[0], 40 * MiB));
  CHECK(free(three[1], 24 * MiB));
  CHECK(pages->is_short());
  CHECK_FALSE(free(three[2], 12 * MiB));
  kept->give_back(KeptBlocks::Always);
  CHECK(g_released.size() == 2);
  CHECK_FALSE(pages->is_short());
  CHECK(free(fresh(12 * MiB), 12 * MiB));
}

TEST_CASE_FIXTURE(Fixture, "a block of which much was never touched is not kept") {
  rounds(48 * MiB, KeptBlocks::Rounds);
  kept->made(48 * MiB, now += Soon);
  CHECK_FALSE(free(std::malloc(48 * MiB), 48 * MiB));
  CHECK(free(fresh(48 * MiB), 48 * MiB));
}

TEST_CASE_FIXTURE(Fixture, "in a child nothing is kept") {
  rounds(16 * MiB, KeptBlocks::Rounds);
  void* const p = fresh(16 * MiB);
  REQUIRE(free(p, 16 * MiB));
  kept->forget_in_child();
  CHECK_FALSE(kept->any());
  CHECK(kept->take(16 * MiB, 0) == nullptr);
  kept->give_back(KeptBlocks::Always);
  CHECK(g_released.empty());
  std::free(p);
}
