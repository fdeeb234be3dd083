// The static data of the main program (.data and .bss): memory that stays where it is until the process ends, so that
// parts of it may be pinned without being told of their end (reused_blocks.h).
//
// Only the main program's: a library may be closed. Without what the dynamic linker makes read-only after relocation.
// The break cannot be moved into it. It ends being known when the program maps something over a part of it.
// Thread safety: open() before there is a second thread; everything else from any thread. Zero-initialized: knows
// nothing.
#pragma once

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(hidden)

namespace gt::opt {

class StaticData {
 public:
  struct Range {
    uintptr_t begin = 0, end = 0;
    size_t bytes() const noexcept { return end > begin ? end - begin : 0; }
  };
  // The largest writable range that the headers of a program describe which lies `bias` above its addresses in the
  // file.
  static Range writable_range(std::span<const ElfW(Phdr)> headers, uintptr_t bias, size_t page_bytes) noexcept;

  constexpr StaticData() = default;

  void open() noexcept;
  void open(Range range) noexcept;

  bool holds(const void* p, size_t bytes) const noexcept {
    const uintptr_t at = reinterpret_cast<uintptr_t>(p), begin = begin_.load(std::memory_order_relaxed);
    const uintptr_t size = bytes_.load(std::memory_order_relaxed);
    return at - begin < size && bytes <= size - (at - begin);
  }
  // The program's own mapping is at these addresses now, or none.
  void changed(const void* at, size_t bytes) noexcept;

 private:
  std::atomic<uintptr_t> begin_{0};
  std::atomic<size_t> bytes_{0};
};

extern StaticData static_data;

}  // namespace gt::opt

#pragma GCC visibility pop
