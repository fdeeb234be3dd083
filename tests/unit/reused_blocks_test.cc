// Pin on reuse: when a block is pinned, and that no pin outlives its memory.
#include "optimizer-rt/pool/reused_blocks.h"

#include <doctest/doctest.h>
#include <sys/time.h>

#include <csignal>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace gt::opt;

namespace {

using Next = ReusedBlocks::Next;
constexpr size_t MiB = size_t{1} << 20;
constexpr size_t KiB = size_t{1} << 10;

void* at(uintptr_t address) { return reinterpret_cast<void*>(address); }

SizeCosts costs(float ns) {
  SizeCosts c{};
  for (float& one : c.ns) one = ns;
  return c;
}

std::unique_ptr<ReusedBlocks> open_table() {
  auto table = std::make_unique<ReusedBlocks>();
  table->open();
  return table;
}

// How many transfers, each saving `saving_ns`, until the block is pinned.
int transfers_until_pinned(ReusedBlocks& table, void* p, size_t bytes, const ReusedBlocks::Terms& terms) {
  ReusedBlocks::Block block;
  for (int i = 1; i <= 10000; ++i) {
    if (table.touch(p, bytes, terms, &block) != Next::Pin) continue;
    table.pinned(block, 7, nullptr);
    return i;
  }
  return 0;
}

}  // namespace

TEST_CASE("a block is pinned when its transfers have paid for it") {
  auto table = open_table();
  const SizeCosts pin = costs(1000);
  table->remember(at(MiB), MiB);
  ReusedBlocks::Block block;
  CHECK(table->touch(at(MiB), MiB, {0, &pin}, &block) == Next::Leave);
  CHECK(transfers_until_pinned(*table, at(MiB), MiB, {250, &pin}) == 4);
  CHECK(table->touch(at(MiB + 5), 10, {250, &pin}, &block) == Next::Pinned);
  CHECK(block.base == MiB);
  CHECK(block.bytes == MiB);
  CHECK(block.pin == 7);

  table->remember(at(4 * MiB), MiB);
  CHECK(transfers_until_pinned(*table, at(4 * MiB), MiB, {0, nullptr, true}) == 2);
}

TEST_CASE("without costs nothing is pinned") {
  auto table = open_table();
  const SizeCosts unknown{};
  table->remember(at(MiB), MiB);
  CHECK(transfers_until_pinned(*table, at(MiB), MiB, {1000, &unknown}) == 0);
  CHECK(transfers_until_pinned(*table, at(MiB), MiB, {1000, nullptr}) == 0);
  CHECK(transfers_until_pinned(*table, at(MiB), MiB, {}) == 0);
}

TEST_CASE("only what lies wholly in one block is known") {
  auto table = open_table();
  table->remember(at(MiB), MiB);
  table->remember(at(2 * MiB), MiB);
  ReusedBlocks::Block block;
  const ReusedBlocks::Terms terms{1, nullptr, true};
  CHECK(table->touch(at(2 * MiB - 8), 16, terms, &block) == Next::Unknown);
  CHECK(table->touch(at(MiB - 1), 2, terms, &block) == Next::Unknown);
  CHECK(table->touch(at(3 * MiB), 1, terms, &block) == Next::Unknown);
  CHECK(table->touch(at(2 * MiB), SIZE_MAX, terms, &block) == Next::Unknown);
  CHECK(table->touch(at(3 * MiB - 1), 1, terms, &block) == Next::Leave);
}

TEST_CASE("small blocks, a closed table and a full one remember nothing") {
  ReusedBlocks closed;
  CHECK_FALSE(closed.is_large(MiB));
  CHECK_FALSE(closed.is_large(SIZE_MAX));
  auto table = open_table();
  CHECK_FALSE(table->is_large(0));
  CHECK_FALSE(table->is_large(ReusedBlocks::LeastBytes - 1));
  CHECK(table->is_large(ReusedBlocks::LeastBytes));
  ReusedBlocks::Block block;
  size_t known = 0;
  for (size_t i = 1; i <= 4 * ReusedBlocks::Most; ++i) table->remember(at(i * MiB), 64 * KiB);
  for (size_t i = 1; i <= 4 * ReusedBlocks::Most; ++i)
    known += table->touch(at(i * MiB), 1, {}, &block) != Next::Unknown;
  CHECK(known > ReusedBlocks::Most / 2);
  CHECK(known <= ReusedBlocks::Most);
  CHECK(table->close());
  CHECK_FALSE(table->close());
  CHECK_FALSE(table->is_large(MiB));
  CHECK(table->touch(at(MiB), 1, {}, &block) == Next::Unknown);
}

TEST_CASE("pins that did not repay raise the bar for their size class") {
  auto table = open_table();
  const SizeCosts pin = costs(1000);
  const auto life = [&](size_t bytes, int uses) {
    table->remember(at(16 * MiB), bytes);
    const int n = transfers_until_pinned(*table, at(16 * MiB), bytes, {500, &pin});
    ReusedBlocks::Block block;
    for (int i = 0; i < uses; ++i) table->touch(at(16 * MiB), bytes, {500, &pin}, &block);
    CHECK(table->leaving(at(16 * MiB)));
    table->settle([](PinToken) {});
    return n;
  };
  CHECK(life(MiB, 0) == 2);
  CHECK(life(MiB, 1) == 4);
  CHECK(life(4 * MiB, 2) == 2);  // another class
  CHECK(life(MiB, 2) == 8);      // this one repays
  CHECK(life(MiB, 2) == 4);
  CHECK(life(MiB, 0) == 2);
}

TEST_CASE("a pin that took longer than its curve says is repaid only when that is") {
  auto table = open_table();
  const SizeCosts pin = costs(1000);
  const auto life = [&](uint64_t took_ns, int uses) {
    table->remember(at(16 * MiB), MiB);
    ReusedBlocks::Block block;
    int n = 1;
    while (table->touch(at(16 * MiB), MiB, {500, &pin}, &block) != Next::Pin) ++n;
    table->pinned(block, 7, nullptr, took_ns);
    for (int i = 0; i < uses; ++i) table->touch(at(16 * MiB), MiB, {500, &pin}, &block);
    CHECK(table->leaving(at(16 * MiB)));
    table->settle([](PinToken) {});
    return n;
  };
  CHECK(life(100, 2) == 2);    // faster than the curve: its price is the curve's, unpinning is in that
  CHECK(life(5000, 2) == 2);   // the curve's is repaid, the real one is not
  CHECK(life(5000, 9) == 4);
  CHECK(life(5000, 10) == 8);  // this one repays
  CHECK(life(5000, 10) == 4);
}

TEST_CASE("a block that is freed while it is being pinned is unpinned, and unsettled until then") {
  auto table = open_table();
  ReusedBlocks::Block block;
  const ReusedBlocks::Terms always{0, nullptr, true};
  for (const bool refused : {false, true}) {
    table->remember(at(MiB), MiB);
    table->touch(at(MiB), 1, always, &block);
    REQUIRE(table->touch(at(MiB), 1, always, &block) == Next::Pin);
    CHECK(table->touch(at(MiB), 1, always, &block) == Next::Leave);
    CHECK(table->leaving(at(MiB)));
    std::vector<PinToken> gone;
    table->settle([&](PinToken pin) { gone.push_back(pin); });
    CHECK(gone.empty());
    CHECK_FALSE(table->is_settled());
    table->remember(at(MiB), MiB);  // the same addresses again
    refused ? table->not_pinned(block, true) : table->pinned(block, 9, nullptr);
    table->settle([&](PinToken pin) { gone.push_back(pin); });
    CHECK(gone == (refused ? std::vector<PinToken>{} : std::vector<PinToken>{9}));
    CHECK(table->is_settled());
    CHECK(table->touch(at(MiB), 1, always, &block) == Next::Leave);
    CHECK_FALSE(table->leaving(at(MiB)));
  }
}

TEST_CASE("a pin goes with its context, and may be made again") {
  auto table = open_table();
  ReusedBlocks::Block block;
  const ReusedBlocks::Terms always{0, nullptr, true};
  const int context = 0, other = 0;
  table->remember(at(MiB), MiB);
  table->touch(at(MiB), 1, always, &block);
  REQUIRE(table->touch(at(MiB), 1, always, &block) == Next::Pin);
  table->pinned(block, 5, &context);
  table->owner_leaves(&other);
  CHECK(table->is_settled());
  table->owner_leaves(&context);
  PinToken gone = 0;
  table->settle([&](PinToken pin) { gone = pin; });
  CHECK(gone == 5);
  CHECK(table->touch(at(MiB), 1, always, &block) == Next::Pin);
}

namespace {

// A process: live allocations, and the pins that its driver holds. Addresses are used again and again.
struct Model {
  struct Memory {
    size_t bytes;
    bool seen;  // did its free() reach us?
  };
  ReusedBlocks table;
  std::map<uintptr_t, Memory> live;
  std::map<PinToken, std::pair<uintptr_t, size_t>> pins;
  PinToken next = 1;
  std::mt19937 random;

  explicit Model(unsigned seed) : random(seed) { table.open(); }

  void settle() {
    table.settle([&](PinToken pin) { REQUIRE(pins.erase(pin) == 1); });
    REQUIRE(table.is_settled());
  }
  bool is_free(uintptr_t p, size_t bytes) const {
    auto it = live.lower_bound(p);
    if (it != live.end() && it->first < p + bytes) return false;
    return it == live.begin() || std::prev(it)->first + std::prev(it)->second.bytes <= p;
  }
  void allocate() {
    const uintptr_t p = MiB + (random() % 200) * 48 * KiB + 16;
    const size_t bytes = 64 * KiB + random() % (300 * KiB);
    if (!is_free(p, bytes)) return;
    live[p] = {bytes, true};
    table.remember(at(p), bytes);
  }
  void release(bool program) {
    auto it = live.begin();
    std::advance(it, static_cast<long>(random() % live.size()));
    const bool dropped = table.leaving(at(it->first));
    live.erase(it);
    if (dropped && program) settle();
  }
  void unmap() {
    const uintptr_t p = MiB + random() % (10 * MiB);
    const size_t bytes = random() % MiB;
    table.changed(at(p), bytes);
    std::erase_if(live, [&](const auto& m) { return m.first < p + bytes && p < m.first + m.second.bytes; });
  }
  void transfer() {
    settle();  // as every call does first
    auto it = live.begin();
    std::advance(it, static_cast<long>(random() % live.size()));
    const size_t from = random() % it->second.bytes, bytes = 1 + random() % (it->second.bytes - from);
    ReusedBlocks::Block block;
    const Next did = table.touch(at(it->first + from), bytes, {0, nullptr, true}, &block);
    if (did == Next::Pin) {
      if (random() % 8 == 0) return table.not_pinned(block, random() % 2 == 0);
      pins[next] = {block.base, block.bytes};
      table.pinned(block, next++, at(1 + random() % 3));
    } else if (did == Next::Pinned) {
      REQUIRE(pins.contains(block.pin));
    }
    check();
  }
  void check() {
    for (const auto& [pin, range] : pins) {
      const auto it = live.find(range.first);
      REQUIRE(it != live.end());
      REQUIRE(it->second.bytes == range.second);
    }
  }
};

}  // namespace

TEST_CASE("random programs: whenever a transfer begins, every pin covers exactly one live block") {
  size_t pins = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Model m(seed);
    for (int step = 0; step < 5000; ++step) {
      const auto what = m.random() % 100;
      if (what < 30 || m.live.empty())
        m.allocate();
      else if (what < 50)
        m.release(m.random() % 2 == 0);
      else if (what < 52)
        m.unmap();
      else if (what < 53)
        m.table.owner_leaves(at(1 + m.random() % 3));
      else
        m.transfer();
    }
    pins += m.next;
    m.table.close();
    m.settle();
    CHECK(m.pins.empty());
  }
  CHECK(pins > 1000);
}

TEST_CASE("memory that was freed behind our back loses its pin when its addresses come back") {
  auto table = open_table();
  ReusedBlocks::Block block;
  const ReusedBlocks::Terms always{0, nullptr, true};
  table->remember(at(MiB), MiB);
  table->touch(at(MiB), 1, always, &block);
  REQUIRE(table->touch(at(MiB), 1, always, &block) == Next::Pin);
  table->pinned(block, 3, nullptr);
  table->remember(at(MiB + 512 * KiB), 64 * KiB);
  CHECK_FALSE(table->is_settled());
  CHECK(table->touch(at(MiB), 1, always, &block) == Next::Unknown);
  CHECK(table->touch(at(MiB + 512 * KiB), 1, always, &block) == Next::Leave);
}

TEST_CASE("static data: ranges that overlap become one block, and what is pinned stays") {
  auto table = open_table();
  ReusedBlocks::Block block;
  const ReusedBlocks::Terms once{1, nullptr, false}, always{0, nullptr, true};
  const auto block_at = [&](uintptr_t p) {
    return table->touch(at(p), 1, once, &block) == Next::Unknown ? ReusedBlocks::Block{} : block;
  };
  table->remember_static(at(4 * MiB), MiB);
  table->remember_static(at(4 * MiB + 10), MiB - 10);  // known
  table->remember_static(at(6 * MiB), MiB);
  CHECK(block_at(4 * MiB + 10).base == 4 * MiB);
  CHECK(block_at(5 * MiB).bytes == 0);
  table->remember_static(at(5 * MiB - 1), MiB + 2);
  CHECK(block_at(7 * MiB - 1).base == 4 * MiB);
  CHECK(block_at(5 * MiB).bytes == 3 * MiB);

  REQUIRE(transfers_until_pinned(*table, at(5 * MiB), MiB, always) == 1);  // the touches above count
  table->remember_static(at(4 * MiB), 8 * MiB);
  CHECK(table->is_settled());
  CHECK(table->touch(at(5 * MiB), MiB, always, &block) == Next::Pinned);
  CHECK(block.bytes == 3 * MiB);
  CHECK(table->touch(at(4 * MiB), 2 * MiB, always, &block) == Next::Pinned);  // both begin there
  CHECK(table->touch(at(6 * MiB), 4 * MiB, always, &block) == Next::Leave);
  CHECK(block.bytes == 8 * MiB);
  REQUIRE(table->touch(at(6 * MiB), 4 * MiB, always, &block) == Next::Pin);
  table->pinned(block, 8, nullptr);

  table->changed(at(5 * MiB), 1);
  std::vector<PinToken> gone;
  table->settle([&](PinToken pin) { gone.push_back(pin); });
  CHECK(gone.size() == 2);
  CHECK(block_at(5 * MiB).bytes == 0);
}

TEST_CASE("static data: a window that slides over it fills no table") {
  auto table = open_table();
  ReusedBlocks::Block block;
  int pins = 0;
  for (uintptr_t p = MiB; p < 65 * MiB; p += 16 * KiB) {
    table->remember_static(at(p), 64 * KiB);
    if (table->touch(at(p), 64 * KiB, {1, nullptr, true}, &block) != Next::Pin) continue;
    table->pinned(block, 1, nullptr);
    ++pins;
  }
  CHECK(pins == 0);
  REQUIRE(table->touch(at(2 * MiB), 60 * MiB, {}, &block) == Next::Leave);
  CHECK(block.base == MiB);
  CHECK(block.bytes == 64 * MiB + 48 * KiB);
}

TEST_CASE("threads: every pin is given back once") {
  auto table = open_table();
  std::atomic<uint64_t> made{0}, gone{0};
  const auto work = [&](unsigned me) {
    std::mt19937 random(me);
    const uintptr_t mine = (me + 1) * 64 * MiB;
    const auto unpin = [&](PinToken) { ++gone; };
    for (int i = 0; i < 20000; ++i) {
      const uintptr_t p = mine + random() % 4 * MiB;
      ReusedBlocks::Block block;
      table->remember(at(p), MiB);
      for (auto n = random() % 4; n > 0; --n) {
        if (table->touch(at(p), 1, {0, nullptr, true}, &block) != Next::Pin) continue;
        table->pinned(block, ++made, nullptr);
      }
      if (random() % 4) table->leaving(at(p));
      table->settle(unpin);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& t : threads) t.join();
  table->close();
  table->settle([&](PinToken) { ++gone; });
  CHECK(table->is_settled());
  CHECK(made > 1000);
  CHECK(gone == made);
}

namespace {

ReusedBlocks* g_interrupted;
volatile sig_atomic_t g_signals = 0;

void free_in_handler(int) {
  g_interrupted->leaving(at(MiB));
  g_signals = 1;
}

}  // namespace

TEST_CASE("what a signal handler frees is not forgotten, whatever it interrupts") {
  auto table = open_table();
  g_interrupted = table.get();
  struct sigaction action {}, before {};
  action.sa_handler = free_in_handler;
  REQUIRE(::sigaction(SIGALRM, &action, &before) == 0);
  const ReusedBlocks::Terms always{0, nullptr, true};
  for (PinToken pin = 1; pin <= 400; ++pin) {
    ReusedBlocks::Block block;
    table->remember(at(MiB), MiB);
    table->touch(at(MiB), 1, always, &block);
    REQUIRE(table->touch(at(MiB), 1, always, &block) == Next::Pin);
    table->pinned(block, pin, nullptr);
    g_signals = 0;
    const itimerval soon{{0, 0}, {0, 1 + static_cast<int>(pin % 50)}};
    REQUIRE(::setitimer(ITIMER_REAL, &soon, nullptr) == 0);
    for (uintptr_t i = 2; !g_signals; i = i % 64 + 2) {  // mostly inside the table
      table->remember(at(i * MiB), MiB);
      table->leaving(at(i * MiB));
    }
    std::vector<PinToken> gone;
    CHECK_FALSE(table->is_settled());
    table->settle([&](PinToken p) { gone.push_back(p); });
    CHECK(gone == std::vector<PinToken>{pin});
    CHECK(table->is_settled());
    CHECK(table->touch(at(MiB), 1, always, &block) == Next::Unknown);
  }
  ::sigaction(SIGALRM, &before, nullptr);
}
