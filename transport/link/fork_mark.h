// Tells the child of a fork from the process that made a link: the child has the memory but not the threads, so links
// are closed there, and their ends only let go of descriptors.
#pragma once

#include <cstdint>

namespace gt::wire {

// Changes in the child of every fork, from the first call on. Cost: a load.
uint32_t fork_generation() noexcept;

class ForkMark {
 public:
  ForkMark() : generation_(fork_generation()) {}
  bool in_child() const { return generation_ != fork_generation(); }

 private:
  uint32_t generation_;
};

}  // namespace gt::wire
