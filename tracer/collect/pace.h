// How often to look into the spool: at once while there is much, rarely while there is little.
//
// Every look costs a wake-up on a processor that the program may want; every nap costs room in the rings. A ring holds
// some milliseconds of even the busiest thread, and a thread that finds it full waits, so naps up to MaxNap are safe.
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>

namespace gt::tracer {

class Pace {
 public:
  // How long to sleep after a look that found this many records.
  std::chrono::nanoseconds nap(uint64_t records) {
    if (records >= Much) {
      nap_ns_ = MinNap;
      return std::chrono::nanoseconds(0);
    }
    if (records >= Some) {
      nap_ns_ = nap_ns_ / 2 > MinNap ? nap_ns_ / 2 : MinNap;
    } else {
      nap_ns_ = nap_ns_ * 2 < MaxNap ? nap_ns_ * 2 : MaxNap;
    }
    return std::chrono::nanoseconds(nap_ns_);
  }

 private:
  static constexpr uint64_t Much = 4096, Some = 256;
  static constexpr long MinNap = 100'000, MaxNap = 2'000'000;
  long nap_ns_ = MinNap;
};

}  // namespace gt::tracer
