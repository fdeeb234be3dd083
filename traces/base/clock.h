// The monotonic clock, for code that is injected: no allocation, no exception.
#pragma once

#include <time.h>

#include <cstdint>

namespace gt {

inline uint64_t monotonic_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace gt
