// The memory system calls without libc's wrappers: for the time before those are known. errno is
// set as libc does.
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace gt::interpose {

inline void* raw_mmap(void* at, size_t size, int prot, int flags, int fd, off_t offset) noexcept {
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, prot, flags, fd, offset));
}
inline void* raw_mremap(void* old, size_t old_size, size_t size, int flags, void* to) noexcept {
  return reinterpret_cast<void*>(syscall(SYS_mremap, old, old_size, size, flags, to));
}
inline int raw_munmap(void* at, size_t size) noexcept {
  return static_cast<int>(syscall(SYS_munmap, at, size));
}

// mprotect without any code of libc's, not even syscall(): libc itself may be what is protected. errno stays.
__attribute__((always_inline)) inline bool protect_pages(uint64_t at, uint64_t size, int protection) noexcept {
#if defined(__x86_64__)
  long result = SYS_mprotect;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(at), "S"(size), "d"(long{protection})
               : "rcx", "r11", "memory");
  return result == 0;
#else
  register long x8 asm("x8") = SYS_mprotect;
  register uint64_t x0 asm("x0") = at;
  register uint64_t x1 asm("x1") = size;
  register long x2 asm("x2") = protection;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0 == 0;
#endif
}

}  // namespace gt::interpose
