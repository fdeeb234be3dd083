// How many lines strangers and drivers may cause in the log: a hundred at once, ten a second for long.
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "traces/base/clock.h"

namespace gt::proxy {

class Allowance {
 public:
  // Whether one more line may go; counts it as left out if not.
  bool take() {
    const uint64_t now = monotonic_ns(), more = (now - refilled_ns_) / LineEvery_ns;
    refilled_ns_ += more * LineEvery_ns;
    lines_ = std::min(Most, lines_ + more);
    if (lines_ == 0) ++left_out_;
    return lines_ > 0 && lines_-- > 0;
  }
  uint64_t take_left_out() { return std::exchange(left_out_, 0); }

 private:
  static constexpr uint64_t Most = 100, LineEvery_ns = 100'000'000;
  uint64_t lines_ = Most, refilled_ns_ = monotonic_ns(), left_out_ = 0;
};

}  // namespace gt::proxy
