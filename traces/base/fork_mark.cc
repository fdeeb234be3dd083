#include "traces/base/fork_mark.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace gt::fork_mark {

using Word = std::atomic<uint32_t>;

constinit std::atomic<Word*> shown{nullptr};

namespace {

constinit Word no_page{0};                      // stands for it where the kernel wipes none
constinit std::atomic<uint32_t> generation{1};  // the last that was shown, by this process or the one that it is from

Word* new_page() noexcept {
  constexpr int WipeOnFork = 18;  // MADV_WIPEONFORK, of newer headers
  const auto page = static_cast<size_t>(::getpagesize());
  void* p = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Word* word = p == MAP_FAILED || ::madvise(p, page, WipeOnFork) != 0 ? &no_page : new (p) Word(generation.load());
  Word* others = nullptr;
  const bool ours = shown.compare_exchange_strong(others, word);
  if (p != MAP_FAILED && (!ours || word == &no_page)) ::munmap(p, page);
  return ours ? word : others;
}

// Whichever thread of the child looks first; all come to the same number.
uint32_t next_generation(Word& word) noexcept {
  const uint32_t next = generation.load() + 1;
  uint32_t before = 0;
  if (!word.compare_exchange_strong(before, next)) return before;
  generation.store(next);
  return next;
}

}  // namespace

uint32_t look() noexcept {
  Word* word = shown.load(std::memory_order_acquire);
  if (!word) word = new_page();
  if (word == &no_page) return static_cast<uint32_t>(::getpid());
  const uint32_t now = word->load(std::memory_order_relaxed);
  return now != 0 ? now : next_generation(*word);
}

}  // namespace gt::fork_mark
