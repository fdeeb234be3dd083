// The memory system calls without libc's wrappers: for the time before those are known. errno is
// set as libc does.
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

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

}  // namespace gt::interpose
