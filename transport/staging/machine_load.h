// How many processors are there for helping threads: those that nobody else wants at the moment.
//
// A helper on a busy machine takes a processor from the program or from another one, and when it is put aside with half
// a piece copied, the whole copy waits for it. So copies are shared out to idle processors only. The kernel counts the
// threads of the whole machine that run or want to (/proc/loadavg); it is asked at most a hundred times a second, while
// there are transfers. Threads that wait or sleep do not count, threads that spin do. Where the kernel does not say,
// nobody else is there. What a group of processes may use of the processors (cgroups) decides how many
// helpers there are (processors.h), not whether they are called.
//
// Thread safety: idle(), from any thread. Allocates nothing, leaves errno alone. Cost: a read of the clock; some 10 us
// when the kernel is asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace gt::staging {

// Threads that run or want to, in the text of /proc/loadavg; 0: it does not say.
unsigned running_in(std::string_view loadavg) noexcept;
unsigned running_threads() noexcept;  // as the kernel says now

class MachineLoad {
 public:
  static constexpr uint64_t Interval_ns = 10'000'000;

  constexpr MachineLoad() = default;
  void open(unsigned processors) noexcept { processors_ = processors; }

  // Processors that run nobody, or one of the `ours` threads of the caller's that run now. `running`: running_threads,
  // or a test's.
  unsigned idle(unsigned ours, uint64_t now_ns, unsigned (*running)()) noexcept;

 private:
  unsigned processors_ = 0;
  std::atomic<uint64_t> next_ns_{0};
  std::atomic<unsigned> others_{0};  // when the kernel was last asked
};

}  // namespace gt::staging
