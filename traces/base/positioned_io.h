// All of it, at a place of a file, however many calls it takes.
// Errors: false, with errno; 0 where the file ended. Thread safety: any thread.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace gt {

inline bool pread_all(int fd, uint64_t offset, size_t bytes, void* to) {
  for (auto* out = static_cast<uint8_t*>(to); bytes > 0;) {
    const ssize_t n = ::pread(fd, out, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = 0;
    if (n <= 0) return false;
    out += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

inline bool pwrite_all(int fd, uint64_t offset, size_t bytes, const void* from) {
  for (const auto* in = static_cast<const uint8_t*>(from); bytes > 0;) {
    const ssize_t n = ::pwrite(fd, in, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = 0;
    if (n <= 0) return false;
    in += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace gt
