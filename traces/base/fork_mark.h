// Tells a forked child from the process that made the mark: by a word in a page that the kernel wipes at every fork,
// also at those that no pthread_atfork handler sees. Where the kernel cannot (before 4.14): by the process number.
// Thread safety: open() before there is a second thread; in_child() from any thread. Cost: one load.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

namespace gt::opt {

class ForkMark {
 public:
  constexpr ForkMark() = default;

  void open() noexcept;
  // Before open(): true.
  bool in_child() const noexcept { return x_word ? *x_word == 0 : ::getpid() != x_pid; }

 private:
  volatile int* x_word = nullptr;
  pid_t x_pid = 0;
};

}  // namespace gt::opt

#pragma GCC visibility pop
