// Random programs on the pool, against a simple model, while the system refuses at every possible moment.
#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "optimizer-rt/pool/pinned_pool.h"
#include "optimizer-rt/pool/system_memory.h"

using namespace gt::opt;

namespace {

constexpr size_t MiB = size_t{1} << 20;

// The system, refusing its calls of one kind from the `first`-th to the `last`-th on.
enum Kind { Map, Protect, Advise, Lock, Unlock, Bind, MakeFile, MapFile, Move, Kinds };
SystemMemory real;
Kind refused_kind;
int first_refused, last_refused;
int calls[Kinds];

bool refused(Kind kind) {
  const int n = ++calls[kind];
  if (kind != refused_kind || n < first_refused || n > last_refused) return false;
  errno = ENOMEM;
  return true;
}

class Refusing {
 public:
  Refusing(Kind kind, int first, int last) {
    real = system_memory;
    refused_kind = kind;
    first_refused = first;
    last_refused = last;
    std::memset(calls, 0, sizeof calls);
    system_memory.map = [](size_t n, int p) { return refused(Map) ? MAP_FAILED : real.map(n, p); };
    system_memory.protect = [](void* a, size_t n, int p, int k) {
      return refused(Protect) ? -1 : real.protect(a, n, p, k);
    };
    system_memory.advise = [](void* a, size_t n, int v) { return refused(Advise) ? -1 : real.advise(a, n, v); };
    system_memory.lock = [](const void*, size_t) { return refused(Lock) ? -1 : 0; };
    system_memory.unlock = [](const void*, size_t) { return refused(Unlock) ? -1 : 0; };
    system_memory.bind = [](void*, size_t, int, const NodeMask*) { return refused(Bind) ? -1 : 0; };
    system_memory.make_file = [](size_t n) { return refused(MakeFile) ? -1 : real.make_file(n); };
    system_memory.map_file = [](void* a, size_t n, int p, int f, int file, size_t o) {
      return !refused(MapFile) && real.map_file(a, n, p, f, file, o);
    };
    system_memory.move = [](void* a, void* b, size_t n) { return !refused(Move) && real.move(a, b, n); };
  }
  ~Refusing() { system_memory = real; }
  Refusing(const Refusing&) = delete;
  Refusing& operator=(const Refusing&) = delete;
};

size_t lacking = 0;
bool may_unpin = true;

// The model: blocks that are apart, each with its size and mark.
class Program {
 public:
  Program(unsigned seed, bool lock, bool shared) : random_(seed) {
    PoolOptions o;
    o.reserve_bytes = 64 * MiB;
    o.limit_bytes = 48 * MiB;
    o.cache_bytes = 16 * MiB;
    o.lock = lock;
    o.shared = shared;
    o.deregister = [](void*, size_t) { return may_unpin; };
    o.unpin = [](PinToken) { return may_unpin; };
    o.short_of = [] { return lacking; };
    open_ = pool_->open(o);
  }

  bool is_open() const { return open_; }
  int served() const { return served_; }

  // False: the pool broke a promise.
  bool step() {
    may_unpin = pick(4) != 0;
    lacking = pick(16) == 0 ? pick(64 * MiB) : 0;
    const size_t what = pick(20);
    if (what < 9) return allocate();
    if (what < 15) return release();
    if (what < 17) return resize();
    if (what == 17) return pool_->prefer_node(static_cast<int>(pick(3)) - 1), true;
    if (what == 18) return during_a_fork();
    pool_->worked(pick(size_t{4} << 30));
    pool_->trim();
    return true;
  }
  bool good() const {
    for (const auto& [p, b] : live_)
      if (!is_intact(p, b)) return false;
    return pool_->is_valid() && pool_->bad_releases() == 0;
  }
  // A child goes on with its own copy, its parent with its own.
  bool forks() {
    pool_->lock_for_fork();
    const pid_t child = ::fork();
    pool_->unlock_after_fork();
    if (child == 0) {
      bool fine = good();
      for (int i = 0; i < 200 && fine; ++i) fine = step();
      ::_exit(fine && good() ? 0 : 1);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && status == 0 && good();
  }
  bool release_all() {
    while (!live_.empty())
      if (!release()) return false;
    may_unpin = true;
    lacking = SIZE_MAX;
    pool_->trim();
    return good() && pool_->live_bytes() <= 3 * 44 * 2 * MiB;  // a slab of each site and class at most
  }

 private:
  struct Block {
    size_t size;
    unsigned char mark;
  };

  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  size_t some_size() { return (size_t{1} << pick(24)) + pick(5000); }
  static size_t edge(size_t size) { return std::min<size_t>(size, 256); }
  static bool is_intact(const char* p, const Block& b) {
    const auto marked = [&](size_t i) { return static_cast<unsigned char>(p[i]) == b.mark; };
    for (size_t i = 0; i < edge(b.size); ++i)
      if (!marked(i) || !marked(b.size - 1 - i)) return false;
    return true;
  }
  bool is_apart(char* p, size_t usable) const {
    const auto after = live_.lower_bound(p);
    if (after != live_.end() && p + usable > after->first) return false;
    return after == live_.begin() || std::prev(after)->first + std::prev(after)->second.size <= p;
  }
  bool allocate() {
    const size_t size = some_size();
    auto* p = static_cast<char*>(pool_->allocate(size, 0, static_cast<SiteIndex>(pick(3))));
    if (!p) return true;  // as it may: libc's turn
    ++served_;
    if (!pool_->owns(p) || pool_->usable_size(p) < size || !is_apart(p, pool_->usable_size(p))) return false;
    const Block b{size, static_cast<unsigned char>(pick(256))};
    std::memset(p, b.mark, edge(size));
    std::memset(p + size - edge(size), b.mark, edge(size));
    live_[p] = b;
    if (pick(3) == 0) pool_->set_pin(pool_->extent_of(p), 1 + pick(5));
    return true;
  }
  bool release() {
    if (live_.empty()) return true;
    const auto it = std::next(live_.begin(), static_cast<long>(pick(live_.size())));
    if (!is_intact(it->first, it->second)) return false;
    pool_->release(it->first);
    live_.erase(it);
    return true;
  }
  // As realloc does it: a new block, the contents, the old one back.
  bool resize() {
    if (live_.empty()) return true;
    const auto it = std::next(live_.begin(), static_cast<long>(pick(live_.size())));
    const auto [old, block] = *it;
    const size_t size = some_size();
    auto* p = static_cast<char*>(pool_->allocate(size, 0, 0));
    if (!p) return true;
    if (!is_apart(p, pool_->usable_size(p)) || !is_intact(old, block)) return false;
    const Block b{std::min(size, 2 * edge(block.size)), block.mark};
    std::memset(p, b.mark, b.size);
    pool_->release(old);
    live_.erase(it);
    live_[p] = b;
    return true;
  }
  // What other handlers of this thread do while the pool is locked: no block is given, releases wait.
  bool during_a_fork() {
    pool_->lock_for_fork();
    const bool none = pool_->allocate(100, 0, 0) == nullptr;
    const bool fine = release();
    pool_->unlock_after_fork();
    return none && fine;
  }

  std::unique_ptr<PinnedPool> pool_ = std::make_unique<PinnedPool>();
  std::mt19937 random_;
  std::map<char*, Block> live_;
  bool open_ = false;
  int served_ = 0;
};

// The number of blocks served; -1: the pool broke a promise.
int run_program(unsigned seed, bool lock, bool shared, int steps, bool with_forks) {
  Program program(seed, lock, shared);
  if (!program.is_open()) return program.step() && program.served() == 0 ? 0 : -1;
  for (int i = 0; i < steps; ++i) {
    if (!program.step()) return -1;
    if (i % 50 == 0 && !program.good()) return -1;
    if (with_forks && i % 400 == 200 && !program.forks()) return -1;
  }
  return program.release_all() ? program.served() : -1;
}

// Of blocks, programs here touch the edges; the kernel would clear 2 MiB for each, which takes longer than all else.
struct SmallPages {
  SmallPages() { ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }
  ~SmallPages() { ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0); }
};

}  // namespace

TEST_CASE("random programs, with forks, when the system refuses nothing") {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Refusing none(Map, 0, 0);
    CHECK(run_program(seed, seed % 2, seed / 2 % 2, 2000, true) > 100);
  }
}

TEST_CASE("random programs, whatever is refused once, a few times, or from then on") {
  const SmallPages small;
  for (int kind = 0; kind < Kinds; ++kind) {
    for (const int first : {1, 2, 4, 9, 30}) {
      for (const int times : {1, 4, 1 << 30}) {
        const Refusing refusing(static_cast<Kind>(kind), first, first + (times - 1));
        const bool shared = (first + times) % 2 || kind >= MakeFile;
        const int served = run_program(static_cast<unsigned>(first + kind), true, shared, 400, kind == Move);
        CAPTURE(kind);
        CAPTURE(first);
        CAPTURE(times);
        CHECK(served >= 0);
        if (kind != Map && kind != Protect) CHECK(served > 50);
      }
    }
  }
}

TEST_CASE("a pool whose tables or addresses are refused stays closed") {
  for (const int first : {1, 2, 3, 4, 5, 6}) {
    const Refusing refusing(Map, first, 1 << 30);
    Program program(1, false, first % 2);
    CAPTURE(first);
    CHECK_FALSE((program.is_open() && first <= 3));
    for (int i = 0; i < 100; ++i) REQUIRE(program.step());
    if (!program.is_open()) CHECK(program.served() == 0);
  }
}
