// Ticks of records as nanoseconds, and the latest ticks seen. Thread safety: none.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gt::tracer {

class TickClock {
 public:
  TickClock(double ns_per_tick, uint64_t start_ticks) : ns_per_tick_(ns_per_tick), start_ticks_(start_ticks) {}

  void see(uint64_t ticks) { last_ticks_ = std::max(last_ticks_, ticks); }
  uint64_t last_ticks() const { return last_ticks_; }

  uint64_t to_ns(uint64_t ticks) const {
    constexpr double Most = 1e18;  // thirty years: records may say anything
    const double ns = static_cast<double>(ticks) * ns_per_tick_;
    return static_cast<uint64_t>(ns < Most ? ns : Most);
  }
  // Since the start of recording.
  uint64_t time_of(uint64_t ticks) const { return to_ns(ticks > start_ticks_ ? ticks - start_ticks_ : 0); }
  uint64_t last_time() const { return time_of(last_ticks_); }

 private:
  double ns_per_tick_;
  uint64_t start_ticks_;
  uint64_t last_ticks_ = 0;
};

}  // namespace gt::tracer
