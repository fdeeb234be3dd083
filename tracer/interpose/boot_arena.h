// The boot arena: memory for the calls that come before libc's own functions are known.
//
// While dlsym looks for the real malloc it may itself allocate, and so may libraries that are
// initialized before us. Such calls get zeroed memory from here. It is never reused: a start needs
// a few hundred bytes of it. The first part is static, more comes from the kernel by raw system
// calls, so there is no size at which a start fails. Invariant: every block is preceded by a header
// word with its size. Thread safety: all functions; lock-free. Async-signal-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)

namespace gt::interpose {

constexpr size_t BootChunkBytes = 64 << 10;

struct BootChunk {
  BootChunk* next = nullptr;
  uintptr_t end = 0;
  std::atomic<uintptr_t> free{0};
};

extern unsigned char boot_first_chunk[BootChunkBytes];
extern std::atomic<BootChunk*> boot_more_chunks;  // newest first; never removed

// Zeroed memory, or nullptr when the kernel has none. `align` is a power of two.
void* boot_allocate(size_t size, size_t align);
bool boot_owns_more(const void* p);
// REQUIRES: boot_owns(p).
size_t boot_size(const void* p);

// Cost: one comparison with constants and one load.
inline bool boot_owns(const void* p) {
  const uintptr_t offset =
      reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(boot_first_chunk);
  if (__builtin_expect(offset < BootChunkBytes, 0)) return true;
  return __builtin_expect(boot_more_chunks.load(std::memory_order_acquire) != nullptr, 0) &&
         boot_owns_more(p);
}

}  // namespace gt::interpose

#pragma GCC visibility pop
