// Is memory getting short? Asked where the pools give or take large blocks: then they give back what they keep.
//
// Short: less than a sixteenth of what the process may use is left, of the machine's available memory (which the kernel
// estimates) or of what its control group leaves beside this process. The kernel is asked at most fifty times a second;
// in between the answer is "no". No thread, no descriptor that stays open.
// Thread safety: missing(), from any thread. Allocates nothing, leaves errno alone. Cost: one read of the clock; some
// 20 us when the kernel is asked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gt::opt {

// MemAvailable of /proc/meminfo in bytes. SIZE_MAX: it does not say.
size_t available_in(std::string_view meminfo) noexcept;
// The resident memory of /proc/self/statm in bytes; 0: it does not say.
size_t resident_in(std::string_view statm, size_t page_bytes) noexcept;

// What the machine has left, or what is left of `limit` (bytes that this process may use).
size_t memory_left(size_t limit) noexcept;

class MemoryWatch {
 public:
  static constexpr uint64_t Interval_ns = 20'000'000;
  static constexpr size_t KeptShare = 16;

  constexpr MemoryWatch() = default;
  void open(size_t limit_bytes) noexcept { limit_ = limit_bytes; }

  // Bytes that should be given back; 0: none, or asked too soon. `left`: memory_left, or a test's.
  size_t missing(uint64_t now_ns, size_t (*left)(size_t limit)) noexcept;

 private:
  size_t limit_ = 0;
  std::atomic<uint64_t> next_ns_{0};
};

}  // namespace gt::opt
