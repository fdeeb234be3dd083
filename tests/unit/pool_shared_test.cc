// A pool in a file of memory: others see it, children of fork() do not, and what goes back is gone from the file.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "optimizer-rt/pool/pinned_pool.h"

using namespace gt::opt;

namespace {

constexpr size_t MiB = size_t{1} << 20;

bool deregisterable = true;
size_t deregistered = 0;

std::unique_ptr<PinnedPool> make_shared(size_t cache = 1024 * MiB) {
  auto pool = std::make_unique<PinnedPool>();
  PoolOptions o;
  o.reserve_bytes = o.limit_bytes = 256 * MiB;
  o.cache_bytes = cache;
  o.shared = true;
  o.deregister = [](void*, size_t bytes) { return deregistered += deregisterable ? bytes : 0, deregisterable; };
  REQUIRE(pool->open(o));
  REQUIRE(pool->is_shared());
  return pool;
}

char* block(PinnedPool& pool, size_t size, int mark) {
  auto* const p = static_cast<char*>(pool.allocate(size, 0, 0));
  REQUIRE(p);
  std::memset(p, mark, size);
  return p;
}

bool holds(const char* p, size_t size, char mark) {
  for (size_t i = 0; i < size; ++i)
    if (p[i] != mark) return false;
  return true;
}

int file_of(PinnedPool& pool, const void* p, size_t* offset) { return pool.file_of(pool.extent_of(p), offset); }

size_t bytes_in(int file) {
  struct stat st {};
  REQUIRE(::fstat(file, &st) == 0);
  return static_cast<size_t>(st.st_blocks) * 512;
}

// Two processes that take turns.
class Turns {
 public:
  Turns() { REQUIRE((::pipe(down_) == 0 && ::pipe(up_) == 0)); }
  ~Turns() {
    for (const int fd : {down_[0], down_[1], up_[0], up_[1]}) ::close(fd);
  }
  void to_child() { (void)!::write(down_[1], "x", 1); }
  void to_parent() { (void)!::write(up_[1], "x", 1); }
  bool await_parent() { return await(down_[0]); }
  bool await_child() { return await(up_[0]); }

 private:
  static bool await(int fd) {
    char c;
    return ::read(fd, &c, 1) == 1;
  }
  int down_[2], up_[2];
};

bool ended_well(pid_t child) {
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

TEST_CASE("who maps the file sees the blocks, and the program what is written there") {
  auto pool = make_shared();
  char* const p = block(*pool, 3 * MiB, 1);
  size_t offset = 0;
  const int file = file_of(*pool, p, &offset);
  REQUIRE(file >= 0);
  CHECK((::fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK) != 0);
  const size_t bytes = pool->extent_of(p).bytes;
  void* const there = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  REQUIRE(there != MAP_FAILED);
  CHECK(holds(static_cast<char*>(there), 3 * MiB, 1));
  std::memset(there, 2, MiB);
  CHECK(holds(p, MiB, 2));
  ::munmap(there, bytes);
  pool->release(p);
}

TEST_CASE("neither side of a fork sees what the other writes afterwards") {
  auto pool = make_shared();
  char* const large = block(*pool, 5 * MiB, 1);
  char* const small = block(*pool, 1000, 2);
  char* const freed = block(*pool, 4 * MiB, 9);
  pool->release(freed);
  Turns turns;
  pool->lock_for_fork();
  const pid_t child = ::fork();
  pool->unlock_after_fork();
  if (child == 0) {
    bool good = turns.await_parent();  // which has written
    good = good && holds(large, 5 * MiB, 1) && holds(small, 1000, 2);
    std::memset(large, 5, 5 * MiB);
    std::memset(small, 6, 1000);
    auto* const more = static_cast<char*>(pool->allocate(40 * MiB, 0, 0));
    if (more) std::memset(more, 7, 40 * MiB);
    auto* const reused = static_cast<char*>(pool->allocate(4 * MiB, 0, 0));
    if (reused) std::memset(reused, 8, 4 * MiB);
    turns.to_parent();
    good = good && turns.await_parent();
    good = good && more && holds(more, 40 * MiB, 7) && reused && holds(reused, 4 * MiB, 8);
    good = good && holds(large, 5 * MiB, 5) && !pool->is_shared() && pool->is_valid();
    ::_exit(good ? 0 : 1);
  }
  std::memset(large, 3, 5 * MiB);
  std::memset(small, 4, 1000);
  turns.to_child();
  REQUIRE(turns.await_child());
  CHECK(holds(large, 5 * MiB, 3));
  CHECK(holds(small, 1000, 4));
  char* const more = block(*pool, 40 * MiB, 11);
  char* const reused = block(*pool, 4 * MiB, 12);
  turns.to_child();
  CHECK(ended_well(child));
  CHECK(holds(more, 40 * MiB, 11));
  CHECK(holds(reused, 4 * MiB, 12));
  CHECK(pool->is_shared());
  CHECK(pool->is_valid());
}

TEST_CASE("a child's children have copies of their own, too") {
  auto pool = make_shared();
  char* const p = block(*pool, MiB, 1);
  const auto fork_here = [&] {
    pool->lock_for_fork();
    const pid_t child = ::fork();
    pool->unlock_after_fork();
    return child;
  };
  const pid_t child = fork_here();
  if (child == 0) {
    std::memset(p, 2, MiB);
    const pid_t grandchild = fork_here();
    if (grandchild == 0) {
      const bool good = holds(p, MiB, 2);
      std::memset(p, 3, MiB);
      ::_exit(good ? 0 : 1);
    }
    ::_exit(ended_well(grandchild) && holds(p, MiB, 2) ? 0 : 1);
  }
  CHECK(ended_well(child));
  CHECK(holds(p, MiB, 1));
}

TEST_CASE("forks while other threads allocate, write and release") {
  auto pool = make_shared(16 * MiB);
  char* const quiet = block(*pool, 6 * MiB, 1);
  std::atomic<bool> stop{false}, damaged{false};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    while (!stop) {
      const size_t size = 64 + random() % (3 * MiB);
      const char mark = static_cast<char>(random());
      auto* const p = static_cast<char*>(pool->allocate(size, 0, 1));
      if (!p) continue;
      std::memset(p, mark, size);
      if (!holds(p, size, mark)) damaged = true;
      pool->release(p);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) threads.emplace_back(work, t);
  for (char round = 1; round < 20; ++round) {
    std::memset(quiet, round, 6 * MiB);
    pool->lock_for_fork();
    const pid_t child = ::fork();
    pool->unlock_after_fork();
    if (child == 0) {
      if (!holds(quiet, 6 * MiB, round)) ::_exit(1);
      if (!pool->is_valid()) ::_exit(2);
      auto* const p = static_cast<char*>(pool->allocate(2 * MiB, 0, 1));
      if (!p) ::_exit(3);
      std::memset(p, 77, 2 * MiB);
      ::_exit(holds(p, 2 * MiB, 77) ? 0 : 4);
    }
    std::memset(quiet, 99, 6 * MiB);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const int said = status >> 8, ended_by = status & 127;
    CHECK(said == 0);  // what is wrong
    CHECK(ended_by == 0);
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  CHECK_FALSE(damaged);
  CHECK(pool->is_valid());
}

TEST_CASE("memory that goes back leaves the file, after the others let go of it") {
  auto pool = make_shared(8 * MiB);
  char* const p = block(*pool, 32 * MiB, 1);
  size_t offset = 0;
  const int file = file_of(*pool, p, &offset);
  CHECK(bytes_in(file) >= 32 * MiB);
  deregisterable = false;
  deregistered = 0;
  pool->release(p);
  CHECK(bytes_in(file) >= 32 * MiB);
  CHECK(holds(p, 32 * MiB, 1));
  deregisterable = true;
  pool->trim();
  CHECK(deregistered == 32 * MiB);
  CHECK(bytes_in(file) < 8 * MiB);
  bool fresh = false;
  CHECK(pool->allocate(32 * MiB, 0, 0, &fresh) == p);
  CHECK(fresh);
  CHECK(holds(p, 32 * MiB, 0));
  CHECK(pool->is_valid());
}

TEST_CASE("what was never touched takes no memory, not in a fork either") {
  auto pool = make_shared();
  auto* const p = static_cast<char*>(pool->allocate(128 * MiB, 0, 0));
  REQUIRE(p);
  std::memset(p + 64 * MiB, 1, 4096);
  size_t offset = 0;
  const int file = file_of(*pool, p, &offset);
  const size_t before = bytes_in(file);
  CHECK(before <= 4 * MiB);
  pool->lock_for_fork();
  const pid_t child = ::fork();
  pool->unlock_after_fork();
  if (child == 0) ::_exit(p[0] == 0 && p[64 * MiB] == 1 && p[127 * MiB] == 0 ? 0 : 1);
  CHECK(ended_well(child));
  CHECK(bytes_in(file) == before);
}

TEST_CASE("a program that closes all files keeps its memory, and its children their copies") {
  auto pool = make_shared();
  char* const p = block(*pool, 2 * MiB, 1);
  size_t offset = 0;
  const int file = file_of(*pool, p, &offset);
  REQUIRE(file >= 0);
  ::close(file);
  CHECK(file_of(*pool, p, &offset) == -1);
  const int other = ::memfd_create("the program's", 0);
  const int same = ::fcntl(other, F_DUPFD, file);  // most likely of the same number
  REQUIRE(same >= 0);
  CHECK(file_of(*pool, p, &offset) == -1);
  pool->lock_for_fork();
  const pid_t child = ::fork();
  pool->unlock_after_fork();
  if (child == 0) {
    const bool good = holds(p, 2 * MiB, 1) && ::fcntl(same, F_GETFD) != -1;
    std::memset(p, 2, 2 * MiB);
    ::_exit(good ? 0 : 1);
  }
  CHECK(ended_well(child));
  CHECK(holds(p, 2 * MiB, 1));
  ::close(same);
  ::close(other);
}
