// Threads that copy (and populate) host memory together: one core moves 7 to 10 GB/s, a PCIe 5 link 55.
//
// A copy is cut into pieces. Everybody begins at a place of his own, so that a chunk which is used again and again
// finds its bytes in the same core's cache, and goes on to whatever is left. The caller takes pieces too and never
// waits for a helper that has none. Helpers are called for idle processors only; where there are none, the caller
// copies alone (machine_load.h). Pieces of the program's memory that its own handler makes present are left to the
// caller, one after the other, when all others are done (program_faults.h).
// Helpers spin for a moment after their last piece, because transfers come in rows, then sleep.
//
// Invariants: a job's fields change only while it is closed and nobody is inside; bit i of `taken` is set once, by who
// copies or leaves piece i; `done` counts pieces that are copied or left.
// Thread safety: copy() from any thread; start() and stop() by one. Everything is noexcept and allocates nothing but
// the helpers' stacks: injected code uses it. Helpers block the signals that are sent, which stay the program's.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gt::staging {

// Which sides of a copy are the program's memory.
enum class Programs : uint8_t { Neither = 0, From = 1, To = 2, Both = 3 };

// Rows of bytes; rows == 1 is a plain copy. Slices of rows, for what has three dimensions.
struct Copy {
  char* to = nullptr;
  const char* from = nullptr;
  size_t row_bytes = 0, rows = 1, slices = 1;
  size_t to_row_pitch = 0, to_slice_pitch = 0;
  size_t from_row_pitch = 0, from_slice_pitch = 0;
  bool streaming = false;  // past the caches, where the processor can
  Programs programs = Programs::Neither;
};

class CopyThreads {
 public:
  static constexpr unsigned MaxHelpers = 15;

  constexpr CopyThreads() = default;
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;
  ~CopyThreads() { stop(); }

  // How many processors are idle or run one of so many threads of ours, the caller among them.
  using IdleProcessors = unsigned (*)(unsigned ours);

  // Threads beside the caller. Fewer, or none, when the system refuses. `idle` is asked before each copy that is to be
  // shared out; nullptr: all of them help always.
  void start(unsigned helpers, IdleProcessors idle = nullptr) noexcept;
  // Waits for the helpers. REQUIRES: nobody copies.
  void stop() noexcept;

  unsigned helpers() const noexcept { return helpers_; }
  uint64_t pieces_helped() const noexcept { return helped_.load(std::memory_order_relaxed); }  // for tests

  // Returns when everything is copied. The memory must not overlap.
  void copy(const Copy& what) noexcept;
  // Makes the pages of a range present, without changing what is in them. A page that cannot be had is left to its
  // first use.
  void populate(char* base, size_t bytes) noexcept;

 private:
  static constexpr size_t Jobs = 8;
  static constexpr size_t MostPieces = 64;

  // Work in pieces: `run` does one of them, or, while others work, leaves it. `what` stays until all are done.
  struct Pieces {
    uint32_t count = 0;  // at most MostPieces
    bool (*run)(const void* what, uint32_t piece, bool others_work) = nullptr;
    const void* what = nullptr;
  };
  struct alignas(64) Job {
    std::atomic<uint32_t> inside{0};  // helpers that may look at the fields
    std::atomic<bool> claimed{false}, open{false};
    alignas(64) std::atomic<uint64_t> taken{0};
    std::atomic<uint64_t> left{0};  // pieces, until all others are done
    alignas(64) std::atomic<uint32_t> done{0};
    Pieces pieces;
  };

  static void* helper(void* copy_threads);
  void help(unsigned number) noexcept;
  bool help_once(unsigned number) noexcept;
  Job* claim() noexcept;
  void share(const Pieces& pieces) noexcept;
  uint32_t work(Job& job, unsigned number) const noexcept;
  unsigned welcome_helpers() const noexcept;
  void call_helpers(uint32_t most) noexcept;
  void wait_for_work(uint32_t seen) noexcept;

  Job jobs_[Jobs];
  alignas(64) std::atomic<uint32_t> epoch_{0};  // changes with every job; sleepers wait on it
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> stop_{false};
  std::atomic<unsigned> numbers_{0};  // given to helpers; the caller is 0
  std::atomic<uint64_t> helped_{0};
  IdleProcessors idle_ = nullptr;
  unsigned helpers_ = 0;
  pthread_t threads_[MaxHelpers] = {};
};

}  // namespace gt::staging
