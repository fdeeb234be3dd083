// Clocks, for code that is injected: no allocation, no exception.
// Thread safety: all functions. Async-signal-safe.
#pragma once

#include <time.h>

#include <cstdint>

namespace gt {

inline uint64_t monotonic_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

// `ms` from now, as pthread_cond_timedwait takes it.
inline timespec deadline_in_ms(uint32_t ms) noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += ms / 1000;
  t.tv_nsec += ms % 1000 * 1'000'000L;
  if (t.tv_nsec >= 1'000'000'000L) t.tv_nsec -= 1'000'000'000L, ++t.tv_sec;
  return t;
}

}  // namespace gt
