// Looks after the pages of its own large blocks in one of several ways: says on standard output what it found, as far
// as that is the same whoever gives the pages, and on standard error how much memory that took.
#include "tests/e2e/programs/page_care.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/e2e/programs/ways.h"

namespace {

// Of a block that is full all pages are there, whoever is asked; of one that is hardly touched, few.
void count() {
  constexpr size_t Bytes = 96 * MiB;
  char* const full = block_of(Bytes);
  std::memset(full, 1, Bytes);
  char* const p = first_page(full);
  say("mincore", in_memory(p, Bytes - Page));
  say("smaps", of_mappings("Rss:", p, Bytes - Page) / 1024 * 8 / (Bytes / MiB));
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  say("getrusage", static_cast<size_t>(used.ru_maxrss) >= Bytes / 1024);
  char* const hardly = block_of(Bytes);
  touch(hardly, Bytes, MiB);
  let_them_look();
  touch(hardly, Bytes, MiB);
  say_memory("hardly touched", in_memory(first_page(hardly), Bytes - Page) * (Page / 1024));
}

// A child that changes a byte in each huge page of what it inherits.
void copy_on_write() {
  constexpr size_t Bytes = 256 * MiB;
  char* const p = block_of(Bytes);
  std::memset(p, 1, Bytes);
  let_them_look();
  const auto change = [=](char by) {
    const size_t before = of_mappings("Private_Dirty:", p, Bytes);
    for (size_t at = 0; at < Bytes; at += Huge) p[at] = by;
    return of_mappings("Private_Dirty:", p, Bytes) - before;
  };
  int told[2], over[2];
  char end = 0;
  if (pipe(told) != 0 || pipe(over) != 0) std::exit(8);
  const pid_t child = fork();
  if (child == 0) {
    close(over[1]);
    say_memory("child", change(2));
    char* const own = block_of(64 * MiB);
    touch(own, 64 * MiB, MiB);
    say_memory("child's own", of_mappings("Rss:", own, 64 * MiB));
    _exit(write(told[1], &end, 1) == 1 && read(over[0], &end, 1) == 0 && p[0] == 2 && p[1] == 1 ? 0 : 1);
  }
  close(told[1]);
  if (read(told[0], &end, 1) != 1) std::exit(8);
  say_memory("parent", change(3));
  close(over[1]);
  int state = 0;
  waitpid(child, &state, 0);
  say("child", static_cast<size_t>(state));
  say("parent", static_cast<size_t>(p[0] * 16 + p[1]));
}

void no_fork() {
  constexpr size_t Bytes = 128 * MiB, Part = 64 * MiB;
  char* const p = block_of(Bytes);
  std::memset(p, 1, 32 * MiB);
  let_them_look();
  char* const kept = first_page(p) + 16 * MiB;
  say("dontfork", static_cast<size_t>(madvise(kept, Part, MADV_DONTFORK)));
  std::memset(p, 1, Bytes);
  const pid_t child = fork();
  if (child == 0) {
    unsigned char page;
    const bool gone = mincore(kept, Page, &page) != 0 && mincore(kept + Part - Page, Page, &page) != 0;
    _exit(gone && p[0] == 1 && p[Bytes - 1] == 1 ? 0 : 1);
  }
  int state = 0;
  waitpid(child, &state, 0);
  say("child", static_cast<size_t>(state));
}

// The program's own wish.
void no_huge_pages() {
  constexpr size_t Bytes = 256 * MiB, Before = 40 * MiB;
  char* const p = block_of(Bytes);
  std::memset(p, 1, Before);
  let_them_look();
  char* const rest = first_page(p) + Before + Huge;
  const size_t bytes = Bytes - Before - 2 * Huge;
  say("nohugepage", static_cast<size_t>(madvise(rest, bytes, MADV_NOHUGEPAGE)));
  for (size_t at = 0; at < bytes; at += 8 * MiB) {
    std::memset(rest + at, 1, std::min(8 * MiB, bytes - at));
    usleep(3000);
  }
  madvise(rest, bytes, MADV_DONTDUMP);  // a mapping apart
  say("huge KiB", of_mappings("AnonHugePages:", rest, bytes - Huge));
}

// Gives back what it filled, and touches a little of it again.
void give_back() {
  constexpr size_t Bytes = 256 * MiB;
  char* const p = block_of(Bytes);
  std::memset(p, 1, Bytes);
  let_them_look();
  say("dontneed", static_cast<size_t>(madvise(first_page(p), Bytes - Page, MADV_DONTNEED)));
  touch(p, Bytes, MiB);
  let_them_look();
  say_memory("now", now());
  std::free(p);
}

// The largest reservation that the system allows, of which a hundredth is used.
void reservation() {
  size_t bytes = 65536 * MiB;
  char* p = static_cast<char*>(std::malloc(bytes));
  for (; !p && bytes > 64 * MiB; p = static_cast<char*>(std::malloc(bytes))) bytes /= 2;
  constexpr size_t Pages = 40'000;
  uint64_t at = 1;
  for (size_t n = 0; n < Pages; ++n) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    p[(at >> 20) % bytes] = 1;
    if (n % 8192 == 0) let_them_look();
  }
  say_memory("now", now());
  std::free(p);
}

// Blocks that fill the limits on addresses.
void limited() {
  size_t blocks = 0;
  std::vector<void*> all;
  while (void* const p = std::malloc(32 * MiB)) {
    all.push_back(p);
    std::memset(p, 1, 2 * MiB);
    ++blocks;
  }
  say("of enough", blocks >= 8);
  for (void* p : all) std::free(p);
  char* const p = block_of(64 * MiB);
  std::memset(p, 1, 64 * MiB);
  say("then", in_memory(first_page(p), 63 * MiB));
}

void mappings() {
  std::vector<char*> blocks;
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(block_of(256 * MiB));
    std::memset(blocks.back(), 1, 256 * MiB);
  }
  let_them_look();
  std::FILE* const file = std::fopen("/proc/self/maps", "r");
  size_t lines = 0;
  for (int c; file && (c = std::fgetc(file)) != EOF;) lines += c == '\n';
  std::fprintf(stderr, "mappings: %zu\n", lines);
  say("blocks", blocks.size());
}

void say_most() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  say_memory("most", static_cast<size_t>(used.ru_maxrss));
}

}  // namespace

int main(int argc, char** argv) {
  return go_one_way(argc, argv,
                    {{"count", count},
                     {"fork", copy_on_write},
                     {"no-fork", no_fork},
                     {"no-huge", no_huge_pages},
                     {"give-back", give_back},
                     {"again", again},
                     {"loops", loops},
                     {"reservation", reservation},
                     {"limited", limited},
                     {"mappings", mappings},
                     {"faults", faults},
                     {"later-faults", later_faults},
                     {"faults-first", faults_first}},
                    say_most);
}
