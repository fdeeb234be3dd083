// Tells a forked child from the process that made a mark: by a word in a page that the kernel wipes at every fork, also
// at those that no pthread_atfork handler sees. Where the kernel cannot (before 4.14): by the process number.
// Thread safety: all functions. Allocates nothing. Cost: two loads.
#pragma once

#include <atomic>
#include <cstdint>

#pragma GCC visibility push(hidden)

namespace gt {

namespace fork_mark {
// Lies in a page of its own, which the kernel wipes: the generation, 0 in a child that has not looked yet. Nullptr:
// nobody has asked yet. A word that stays 0: the kernel wipes no page.
extern std::atomic<std::atomic<uint32_t>*> shown;
uint32_t look() noexcept;
}  // namespace fork_mark

// Another number in the child of every fork; never 0.
inline uint32_t fork_generation() noexcept {
  const std::atomic<uint32_t>* const word = fork_mark::shown.load(std::memory_order_acquire);
  const uint32_t now = word ? word->load(std::memory_order_relaxed) : 0;
  return now != 0 ? now : fork_mark::look();
}

class ForkMark {
 public:
  constexpr ForkMark() = default;  // of no process: everybody is a child
  static ForkMark here() noexcept { return ForkMark(fork_generation()); }

  bool in_child() const noexcept { return generation_ != fork_generation(); }

 private:
  explicit constexpr ForkMark(uint32_t generation) : generation_(generation) {}
  uint32_t generation_ = 0;
};

}  // namespace gt

#pragma GCC visibility pop
