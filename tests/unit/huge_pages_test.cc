// Which pages get advice, by what was touched. Pages are ordinary ones here, whatever advice they get: it is only
// written down.
#include "optimizer-rt/pool/huge_pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "optimizer-rt/pool/system_memory.h"

using namespace gt::opt;

namespace {

constexpr size_t Huge = HugePages::HugeBytes, MiB = size_t{1} << 20;

std::set<uintptr_t> g_advised;    // huge pages, by their beginning
std::set<uintptr_t> g_withdrawn;  // that are to be ordinary ones again
bool g_refuse = false;

int advise(void* at, size_t bytes, int advice) {
  CHECK((advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE));
  if (g_refuse) return errno = ENOMEM, -1;
  const auto begin = reinterpret_cast<uintptr_t>(at);
  CHECK(begin % Huge == 0);
  CHECK(bytes % Huge == 0);
  std::set<uintptr_t>& which = advice == MADV_HUGEPAGE ? g_advised : g_withdrawn;
  for (uintptr_t p = begin; p < begin + bytes; p += Huge) CHECK(which.insert(p).second);
  return 0;
}

// A block whose first huge page begins `lead` bytes behind its beginning.
class Block {
 public:
  explicit Block(size_t bytes, size_t lead = 0) : bytes_(bytes), room_(bytes + lead + 2 * Huge) {
    void* const p = ::mmap(nullptr, room_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(p != MAP_FAILED);
    ::madvise(p, room_, MADV_NOHUGEPAGE);
    map_ = static_cast<char*>(p);
    const auto aligned = (reinterpret_cast<uintptr_t>(p) + lead + Huge - 1) & ~(Huge - 1);
    base_ = reinterpret_cast<char*>(aligned) - lead;
  }
  ~Block() { ::munmap(map_, room_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  char* at(size_t offset) const { return base_ + offset; }
  size_t bytes() const { return bytes_; }
  void touch(size_t from, size_t bytes) const { std::memset(base_ + from, 1, bytes); }
  // How many bytes of it were advised.
  size_t advised() const {
    size_t n = 0;
    for (const uintptr_t p : g_advised) n += p >= reinterpret_cast<uintptr_t>(base_) && p < end() ? Huge : 0;
    return n;
  }
  bool is_advised(size_t offset) const { return g_advised.contains(reinterpret_cast<uintptr_t>(base_ + offset)); }

 private:
  uintptr_t end() const { return reinterpret_cast<uintptr_t>(base_) + bytes_; }
  size_t bytes_, room_;
  char *map_, *base_;
};

struct Fixture {
  Fixture() {
    g_advised.clear();
    g_withdrawn.clear();
    g_refuse = false;
    system_memory.advise = advise;
  }
  ~Fixture() { system_memory.advise = own; }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void open(size_t budget = HugePages::Budget) const { pages->open(budget, counts()); }
  HugePages::Counts counts() const { return {blocks.get(), bytes.get(), filled_bytes.get()}; }
  bool made(const Block& b) const { return pages->made(b.at(0), b.bytes()); }

  int (*const own)(void*, size_t, int) = system_memory.advise;
  const std::unique_ptr<Counter> blocks = std::make_unique<Counter>(), bytes = std::make_unique<Counter>(),
                                 filled_bytes = std::make_unique<Counter>();
  const std::unique_ptr<HugePages> pages = std::make_unique<HugePages>();
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "closed, it wants nothing") {
  CHECK_FALSE(pages->wants(MiB));
  CHECK_FALSE(pages->wants(1024 * MiB));
  const Block b(64 * MiB);
  pages->filled(b.at(0), b.bytes());
  CHECK(g_advised.empty());
}

TEST_CASE_FIXTURE(Fixture, "what a transfer fills gets whole huge pages, no more, where it lies in a known block") {
  open(0);
  const Block b(64 * MiB, 4096), unknown(64 * MiB);
  REQUIRE(made(b));
  pages->filled(unknown.at(0), unknown.bytes());
  pages->filled(b.at(MiB), b.bytes());  // leaves it
  CHECK(g_advised.empty());
  pages->filled(b.at(0), b.bytes());
  CHECK(b.advised() == 62 * MiB);
  CHECK(get(*blocks) == 2);
  CHECK(get(*bytes) == 62 * MiB);
  CHECK(get(*filled_bytes) == 62 * MiB);
}

TEST_CASE_FIXTURE(Fixture, "memory that has pages already, or too few, gets none") {
  open(0);
  const Block b(64 * MiB);
  REQUIRE(made(b));
  b.touch(0, b.bytes());
  pages->filled(b.at(0), b.bytes());
  CHECK_FALSE(made(b));
  const Block other(64 * MiB);
  REQUIRE(made(other));
  pages->filled(other.at(0), HugePages::LeastFilled - 1);
  CHECK_FALSE(pages->wants(HugePages::LeastBytes - 1));
  CHECK(pages->wants(HugePages::LeastBytes));
  CHECK(g_advised.empty());
}

TEST_CASE_FIXTURE(Fixture, "a block that is filled in order is advised step by step, but for its probes") {
  open();
  const Block b(256 * MiB);
  REQUIRE(made(b));
  CHECK_FALSE(b.is_advised(0));
  CHECK(b.advised() == 32 * MiB);
  CHECK(pages->look() == HugePages::Seen::NoChange);
  size_t before = 0;
  for (size_t filled = 0; filled < b.bytes(); filled += Huge) {
    b.touch(filled, Huge);
    pages->look();
    CHECK(b.advised() >= before);
    CHECK(b.advised() <= filled + Huge + HugePages::Budget);
    before = b.advised();
    CHECK(get(*filled_bytes) <= filled + Huge);
  }
  CHECK(pages->look() == HugePages::Seen::Nothing);
  CHECK(get(*filled_bytes) + HugePages::Budget / 2 >= get(*bytes));  // the last step may not be touched yet
  CHECK(b.advised() >= 238 * MiB);  // 2 MiB at 0, 34, 68, ...
  CHECK_FALSE(b.is_advised(34 * MiB));
}

TEST_CASE_FIXTURE(Fixture, "blocks that are hardly touched get what the budget has, all together") {
  open(64 * MiB);
  std::vector<std::unique_ptr<Block>> blocks_made;
  for (int i = 0; i < 8; ++i) {
    blocks_made.push_back(std::make_unique<Block>(1024 * MiB));
    REQUIRE(made(*blocks_made.back()));
  }
  for (const auto& b : blocks_made) {
    for (size_t at = 0; at < b->bytes(); at += 1 * MiB) b->touch(at, 1);
  }
  for (int i = 0; i < 10; ++i) pages->look();
  CHECK(g_advised.size() * Huge <= 64 * MiB);
  SUBCASE("and give it back when they go") {
    const size_t advised = g_advised.size();
    for (const auto& b : blocks_made) pages->gone(b->at(0));
    CHECK(pages->look() == HugePages::Seen::Nothing);
    const Block next(256 * MiB);
    REQUIRE(made(next));
    CHECK(next.advised() == 32 * MiB);
    CHECK(g_advised.size() > advised);
  }
  SUBCASE("and keep it when they are given up") {
    pages->give_up();
    const Block next(256 * MiB);
    REQUIRE(made(next));
    CHECK(next.advised() == 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "nineteen of twenty pages of a probe vouch for its step") {
  open();
  const Block b(256 * MiB);
  REQUIRE(made(b));
  const size_t first = b.advised();
  b.touch(0, Huge / 20 * 19 - 8192);
  CHECK(pages->look() == HugePages::Seen::NoChange);
  CHECK(b.advised() == first);
  b.touch(0, Huge / 20 * 19 + 4096);
  CHECK(pages->look() == HugePages::Seen::Progress);
  CHECK(b.advised() > first);
}

TEST_CASE_FIXTURE(Fixture, "nobody looks at a block that is gone, or something else now") {
  open();
  const Block b(256 * MiB);
  REQUIRE(made(b));
  CHECK(pages->may_know(b.at(0)));
  pages->changed(b.at(256 * MiB), 4096);  // elsewhere
  CHECK(pages->may_know(b.at(0)));
  SUBCASE("freed") { pages->gone(b.at(0)); }
  SUBCASE("partly unmapped") { pages->changed(b.at(100 * MiB), 4096); }
  SUBCASE("in a child") { pages->forget_in_child(); }
  CHECK_FALSE(pages->may_know(b.at(0)));
  CHECK(pages->look() == HugePages::Seen::Nothing);
}

TEST_CASE_FIXTURE(Fixture, "memory that is no block any more, or that the program looks after, gets ordinary pages") {
  bool keeps = false, others = false;
  const Block b(64 * MiB, 4096);
  const auto begin = [&] {
    pages->open(HugePages::Budget, counts(), keeps);
    REQUIRE(made(b));
    errno = 7;
  };
  SUBCASE("freed") { begin(), pages->gone(b.at(0)); }
  SUBCASE("advice of its own") { begin(), pages->looked_after(b.at(8 * MiB), 4096); }
  SUBCASE("faults that it handles") {
    begin(), pages->close();
    CHECK_FALSE(pages->wants(1024 * MiB));
  }
  SUBCASE("but what other memory took the place of is not ours") {
    others = true;
    begin(), pages->changed(b.at(8 * MiB), 4096);
  }
  SUBCASE("nor what the user asked for") {
    others = keeps = true;
    begin(), pages->gone(b.at(0));
  }
  CHECK(errno == 7);
  CHECK_FALSE(pages->may_know(b.at(0)));
  CHECK(g_withdrawn.size() * Huge == (others ? 0 : 62 * MiB));
}

TEST_CASE_FIXTURE(Fixture, "a block that is full at its beginning and hardly touched behind it gets the budget") {
  open();
  const Block b(1024 * MiB);
  REQUIRE(made(b));
  b.touch(0, Huge);
  for (size_t at = Huge; at < b.bytes(); at += MiB) b.touch(at, 1);
  for (int i = 0; i < 20; ++i) pages->look();
  CHECK(b.advised() <= HugePages::Budget);
}

TEST_CASE_FIXTURE(Fixture, "a refusal is no error") {
  open();
  g_refuse = true;
  const Block b(256 * MiB);
  errno = 7;
  CHECK(made(b));
  pages->filled(b.at(0), b.bytes());
  CHECK(errno == 7);
  b.touch(0, b.bytes());
  for (int i = 0; i < 200; ++i) pages->look();
  CHECK(pages->look() == HugePages::Seen::Nothing);
  CHECK(get(*bytes) == 0);
}
