// Waiting for a word to change. May return early; the caller looks again. Any thread of one process (the futexes are
// private ones); a child of fork() has words of its own. errno changes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace gt::staging {

// `timeout`, relative, may be nullptr.
inline void wait_while(std::atomic<uint32_t>& word, uint32_t value, const timespec* timeout = nullptr) noexcept {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, timeout, nullptr, 0);
}
inline void wake(std::atomic<uint32_t>& word, uint32_t most) noexcept {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
}

}  // namespace gt::staging
