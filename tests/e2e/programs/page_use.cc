// Uses large blocks in one of several ways, says on standard output what it read there, and on standard error how much
// memory it had at most.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/e2e/programs/ways.h"

namespace {

constexpr size_t MiB = size_t{1} << 20, Page = 4096;

char* some(void* block) {
  if (!block || block == MAP_FAILED) std::exit(9);
  return static_cast<char*>(block);
}
char* mapped(size_t bytes, int more = 0) {
  return some(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0));
}
uint64_t sum(const char* p, size_t bytes, size_t step = Page) {
  uint64_t s = 14695981039346656037u;
  for (size_t i = 0; i < bytes; i += step) s = (s ^ static_cast<unsigned char>(p[i])) * 1099511628211u;
  return s;
}
void say(const char* what, uint64_t n) { std::printf("%s %llx\n", what, static_cast<unsigned long long>(n)); }

void say_most(const char* when) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::fprintf(stderr, "%s KiB: %ld\n", when, used.ru_maxrss);
}

void fill() {
  for (size_t bytes : {9 * MiB, 40 * MiB, 300 * MiB}) {
    char* const p = some(std::malloc(bytes));
    for (size_t i = 0; i < bytes; ++i) p[i] = static_cast<char>(i * 7 + i / 4096);
    say("malloc", sum(p, bytes, 61));
    std::free(p);
    char* const zero = some(std::calloc(bytes, 1));
    say("calloc", sum(zero, bytes, 61));
    std::free(zero);
    char* const m = mapped(bytes);
    std::memset(m, 3, bytes);
    say("mmap", sum(m, bytes, 61));
    munmap(m, bytes);
  }
}

void fill_by_threads() {
  constexpr size_t Threads = 4, Part = 40 * MiB;
  std::vector<char> block(Threads * Part);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < Threads; ++t) {
    threads.emplace_back([&, t] { std::memset(block.data() + t * Part, static_cast<int>(t) + 1, Part); });
  }
  for (std::thread& t : threads) t.join();
  say("threads", sum(block.data(), block.size()));
}

// A hundredth of a reservation, anywhere.
void sparse() {
  constexpr size_t Bytes = 8192 * MiB;
  char* const p = mapped(Bytes, MAP_NORESERVE);
  uint64_t at = 1;
  for (size_t n = Bytes / Page / 100; n > 0; --n) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    p[(at >> 20) % Bytes] = 1;
  }
  say("sparse", 1);
}

// Zeros that are read, and hardly written. Again, when they were.
void zeros() {
  constexpr size_t Bytes = 256 * MiB;
  for (int round = 0; round < 2; ++round) {
    char* const p = some(std::calloc(Bytes, 1));
    std::memset(p, 5, 8 * MiB);
    say("zeros", sum(p, 16 * MiB));
    if (round == 0) say_most("first");
    std::free(p);
  }
}

// Many blocks of which little is used.
void sparse_blocks() {
  std::vector<char*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(some(std::malloc(64 * MiB)));
  for (int round = 0; round < 3; ++round) {
    for (char* p : blocks) {
      for (size_t at = 0; at < 64 * MiB; at += MiB) p[at] = 1;
    }
    usleep(20'000);
  }
  for (char* p : blocks) std::free(p);
  say("blocks", blocks.size());
}

void copy_on_write() {
  char* const p = mapped(200 * MiB);
  std::memset(p, 1, 200 * MiB);
  const pid_t child = fork();
  if (child == 0) {
    for (size_t at = 0; at < 200 * MiB; at += MiB) p[at] = 2;
    char* const own = some(std::malloc(64 * MiB));
    std::memset(own, 5, 64 * MiB);
    _exit(sum(own, 64 * MiB) == sum(own, 64 * MiB) && p[0] == 2 && p[1] == 1 ? 0 : 1);
  }
  int state = 0;
  waitpid(child, &state, 0);
  say("child", static_cast<uint64_t>(state));
  say("parent", sum(p, 200 * MiB));
}

// What the program does to its pages by itself.
void own_advice() {
  char* const p = mapped(120 * MiB);
  madvise(p, 120 * MiB, MADV_DONTFORK);
  std::memset(p, 1, 60 * MiB);
  madvise(p + 10 * MiB, 20 * MiB, MADV_DONTNEED);
  say("given back", sum(p, 60 * MiB));
  munmap(p + 60 * MiB, 20 * MiB);
  char* const other =
      some(mmap(p + 60 * MiB, 20 * MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  std::memset(other, 4, 20 * MiB);
  char* const grown = some(mremap(p, 60 * MiB, 90 * MiB, MREMAP_MAYMOVE));
  std::memset(grown + 60 * MiB, 6, 30 * MiB);
  say("grown", sum(grown, 90 * MiB));
  char* const r = some(std::realloc(some(std::malloc(20 * MiB)), 100 * MiB));
  std::memset(r, 8, 100 * MiB);
  say("realloc", sum(r, 100 * MiB));
  std::free(r);
}

void little_room() {
  const rlimit limit{2048 * MiB, 2048 * MiB};
  setrlimit(RLIMIT_AS, &limit);
  setrlimit(RLIMIT_DATA, &limit);
  size_t got = 0;
  std::vector<void*> blocks;
  while (void* const p = std::malloc(64 * MiB)) {
    blocks.push_back(p);
    std::memset(p, 1, 1 * MiB);
    ++got;
  }
  for (void* p : blocks) std::free(p);
  say("of enough", got >= 20 ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  return go_one_way(argc, argv,
                    {{"fill", fill},
                     {"threads", fill_by_threads},
                     {"sparse", sparse},
                     {"blocks", sparse_blocks},
                     {"zeros", zeros},
                     {"fork", copy_on_write},
                     {"advice", own_advice},
                     {"little-room", little_room}},
                    [] { say_most("most"); });
}
