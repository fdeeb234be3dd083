// Uses the heap at the program break in one of several ways, says on standard output what it read there, and on
// standard error how much memory it had at most.
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/e2e/programs/ways.h"

namespace {

constexpr size_t MiB = size_t{1} << 20;

char* some(void* p) {
  if (!p) std::exit(9);
  return static_cast<char*>(p);
}
void say(const char* what, long n) { std::printf("%s %ld\n", what, n); }

// A list, as programs keep them: gives the sum of what was written.
long list_of(size_t blocks, size_t bytes) {
  std::vector<char*> list(blocks);
  for (size_t i = 0; i < blocks; ++i) {
    list[i] = some(std::malloc(bytes));
    std::memset(list[i], static_cast<int>(i % 100), bytes);
  }
  long sum = 0;
  for (char* p : list) sum += p[bytes / 2];
  for (char* p : list) std::free(p);
  return sum;
}

void small() {
  for (int round = 0; round < 3; ++round) say("small", list_of(400'000, 500));
}

// Large blocks there of which little is touched.
void sparse() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  std::vector<char*> blocks;
  for (int i = 0; i < 300; ++i) {
    blocks.push_back(some(std::malloc(4 * MiB)));
    for (size_t at = 0; at < 4 * MiB; at += MiB) blocks.back()[at] = 1;
  }
  say("sparse", static_cast<long>(blocks.size()));
}

// The break in the program's own hands, between its mallocs.
void breaks() {
  char* const first = static_cast<char*>(sbrk(0));
  say("made", list_of(1000, 500));
  char* const before = static_cast<char*>(sbrk(0));
  char* const own = static_cast<char*>(sbrk(3 * MiB));
  say("as asked", own == before && static_cast<char*>(sbrk(0)) == own + 3 * MiB);
  std::memset(own, 1, 3 * MiB);
  say("beside it", list_of(100'000, 500));
  char* const at = static_cast<char*>(sbrk(0));
  say("set", brk(at + MiB) == 0 && static_cast<char*>(sbrk(0)) == at + MiB);
  std::memset(at, 2, MiB);
  say("given back", brk(at) == 0 && sbrk(0) == at);
  say("stays", own[3 * MiB - 1]);
  say("grew", at > first);
  say("refused", brk(reinterpret_cast<void*>(16)) == -1 && sbrk(0) == at);
}

void limited() {
  const rlimit limit{200 * MiB, 200 * MiB};
  setrlimit(RLIMIT_DATA, &limit);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  size_t got = 0;
  while (got < 1000 && std::malloc(MiB)) ++got;
  say("nearly all", got > 150 && got < 200);
}

void children() {
  char* const p = some(std::malloc(500));
  list_of(200'000, 500);
  const pid_t child = fork();
  if (child == 0) _exit(list_of(200'000, 500) == list_of(200'000, 500) && p ? 0 : 1);
  int state = 0;
  waitpid(child, &state, 0);
  say("child", state);
  say("parent", list_of(200'000, 500));
}

void say_most() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::fprintf(stderr, "most KiB: %ld\nfaults: %ld\n", used.ru_maxrss, used.ru_minflt);
}

}  // namespace

int main(int argc, char** argv) {
  return go_one_way(
      argc, argv,
      {{"small", small}, {"sparse", sparse}, {"breaks", breaks}, {"limited", limited}, {"children", children}},
      say_most);
}
