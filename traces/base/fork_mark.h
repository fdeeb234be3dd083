// Tells a forked child from the process that made a mark: by a word in a page that the kernel wipes at every fork, also
// at those that no pthread_atfork handler sees. Where the kernel cannot (before 4.14): by the process number.
// Thread safety: all functions. Allocates nothing. Cost: two loads.
#pragma once

#include <cstdint>

#pragma GCC visibility push(hidden)

namespace gt {

// Another number in the child of every fork; never 0.
uint32_t fork_generation() noexcept;

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
