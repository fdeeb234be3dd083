// The break as a program sees it, where the real one is ahead of it; and which pages of its room get advice. The break
// is that of a mapping of our own here.
#include "optimizer-rt/pool/heap_room.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "optimizer-rt/pool/system_memory.h"

using namespace gt::opt;

namespace {

constexpr size_t Huge = HugePages::HugeBytes, MiB = size_t{1} << 20, Space = 1024 * MiB;

// The system's break: [g_space, g_real) is the heap.
char *g_space = nullptr, *g_real = nullptr;
size_t g_most = Space;
void* const Failed = reinterpret_cast<void*>(-1);

int set(void* to) {
  char* const at = static_cast<char*>(to);
  if (at < g_space || at > g_space + g_most) return errno = ENOMEM, -1;
  if (at < g_real)
    ::madvise(g_space + ((at - g_space + 4095) & ~4095l), static_cast<size_t>(g_real - at), MADV_DONTNEED);
  g_real = at;
  return 0;
}
void* move(intptr_t by) {
  char* const before = g_real;
  const intptr_t at = before - g_space + by;
  if (by > 0 ? by > static_cast<intptr_t>(Space) : at < 0) return errno = ENOMEM, Failed;
  return set(g_space + at) == 0 ? before : Failed;
}

size_t g_advised = 0, g_withdrawn = 0;
int advise(void* at, size_t bytes, int advice) {
  CHECK(reinterpret_cast<uintptr_t>(at) % Huge == 0);
  CHECK(static_cast<char*>(at) + bytes <= g_real + 4096);
  (advice == MADV_HUGEPAGE ? g_advised : g_withdrawn) += bytes;
  return 0;
}

struct Fixture {
  explicit Fixture(size_t first = 5000) {
    void* const p = ::mmap(nullptr, Space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(p != MAP_FAILED);
    ::madvise(p, Space, MADV_NOHUGEPAGE);
    g_space = static_cast<char*>(p);
    g_real = g_space + first;
    g_most = Space;
    g_advised = g_withdrawn = 0;
    system_memory.advise = advise;
    pages->open(HugePages::Budget, {blocks.get(), bytes.get(), filled.get()});
    heap->open({move, set}, pages.get());
  }
  ~Fixture() {
    system_memory.advise = own;
    ::munmap(g_space, Space);
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  // As malloc's heap grows.
  char* more(size_t n, bool touched = true) const {
    char* const p = static_cast<char*>(heap->move(static_cast<intptr_t>(n), true));
    REQUIRE(p != Failed);
    CHECK(p + n <= g_real);
    if (touched) std::memset(p, 1, n);
    return p;
  }
  char* end() const { return static_cast<char*>(heap->move(0, true)); }

  int (*const own)(void*, size_t, int) = system_memory.advise;
  const std::unique_ptr<Counter> blocks = std::make_unique<Counter>(), bytes = std::make_unique<Counter>(),
                                 filled = std::make_unique<Counter>();
  const std::unique_ptr<HugePages> pages = std::make_unique<HugePages>();
  const std::unique_ptr<HeapRoom> heap = std::make_unique<HeapRoom>();
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a heap that is filled gets nearly all of its pages, and the system is seldom asked") {
  const char* const first = end();
  int moves = 0;
  for (const char* real = g_real; end() - first < static_cast<ptrdiff_t>(400 * MiB); real = g_real) {
    more(132 << 10);
    moves += g_real != real;
  }
  CHECK(moves < 40);
  CHECK(g_advised > 330 * MiB);
  CHECK(get(*bytes) == g_advised);
  CHECK(get(*filled) >= g_advised - HeapRoom::LargestStep);
  CHECK(g_real - end() <= static_cast<ptrdiff_t>(HeapRoom::LargestStep + 2 * Huge));
}

TEST_CASE_FIXTURE(Fixture, "one of which little is touched gets the first step, and another only where it is filled") {
  for (int i = 0; i < 100; ++i) *more(3 * MiB, false) = 1;
  CHECK(g_advised == HeapRoom::FirstStep);
  CHECK(get(*filled) == 0);
  for (int i = 0; i < 100; ++i) more(MiB);
  CHECK(g_advised > 2 * HeapRoom::FirstStep);
  CHECK(g_advised <= 100 * MiB + HeapRoom::FirstStep + HeapRoom::LargestStep);
  CHECK(get(*filled) > 40 * MiB);
}

TEST_CASE("the program sees the break that it would see") {
  std::mt19937 random(3);
  for (const size_t most : {Space, 100 * MiB}) {
    const Fixture f;
    g_most = most;
    intptr_t model = f.end() - g_space;
    for (int i = 0; i < 20000; ++i) {
      const auto size = static_cast<intptr_t>(random() % (random() % 50 == 0 ? 30 * MiB : 200 * 1024));
      switch (random() % 8) {
        case 0: {
          const intptr_t by = std::min(size, model);
          REQUIRE(f.heap->move(-by, random() % 2 == 0) == g_space + model);
          model -= by;
          break;
        }
        case 1:  // by brk
          errno = 0;
          if (f.heap->set(g_space + size) == 0) model = size;
          break;
        case 2:  // past us
          if (random() % 20 == 0 && set(g_space + model + size) == 0) model += size;
          break;
        default: {
          errno = 17;
          void* const got = f.heap->move(size, random() % 4 != 0);
          const bool fits = model + size <= static_cast<intptr_t>(most);
          REQUIRE(got == (fits ? g_space + model : Failed));
          REQUIRE(errno == (fits ? 17 : ENOMEM));
          if (fits) model += size;
        }
      }
      REQUIRE(f.end() == g_space + model);
      REQUIRE(g_real >= g_space + model);
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "more than there is, and less than nothing, are refused as the system does") {
  CHECK(heap->move(PTRDIFF_MAX, true) == Failed);
  CHECK(errno == ENOMEM);
  CHECK(heap->move(PTRDIFF_MIN, true) == Failed);
  CHECK(heap->set(g_space - 1) == -1);
  CHECK(end() == g_space + 5000);
}

TEST_CASE_FIXTURE(Fixture, "others than the C library's allocator get what they ask for") {
  heap->move(3 * MiB, false);
  CHECK(g_real == g_space + 5000 + 3 * MiB);
  CHECK(g_advised == 0);
}

TEST_CASE_FIXTURE(Fixture, "where a limit counts mappings there is no room") {
  rlimit before{};
  getrlimit(RLIMIT_DATA, &before);
  if (before.rlim_max != RLIM_INFINITY) return;
  const rlimit limit{size_t{1} << 46, RLIM_INFINITY};
  setrlimit(RLIMIT_DATA, &limit);
  more(MiB);
  CHECK(g_real == end());
  setrlimit(RLIMIT_DATA, &before);
  more(MiB);
  CHECK(g_real > end());
}

TEST_CASE_FIXTURE(Fixture, "what the program looks after has ordinary pages; after close(), everything") {
  for (int i = 0; i < 100; ++i) more(MiB);
  const size_t advised = g_advised;
  heap->looked_after(g_space + 20 * MiB, 10 * MiB);
  CHECK(g_withdrawn >= 10 * MiB);
  CHECK(g_withdrawn <= 14 * MiB);
  heap->looked_after(g_space + Space, MiB);
  CHECK(g_withdrawn <= 14 * MiB);
  heap->close();
  CHECK(g_withdrawn >= 100 * MiB);
  for (int i = 0; i < 100; ++i) more(MiB);
  CHECK(g_advised == advised);
}

TEST_CASE_FIXTURE(Fixture, "a heap that shrinks and grows again begins where it is") {
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 60; ++i) more(MiB);
    REQUIRE(heap->move(-static_cast<intptr_t>(60 * MiB), true) != Failed);
    CHECK(g_real == end());
  }
  CHECK(pages->lend(HugePages::Budget - HeapRoom::LargestStep));  // nothing is lost on the way
}
