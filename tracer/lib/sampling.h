// Which commands of a call site get device times: all of them until the site is known, then fewer and fewer.
//
// A site here is the address of the call together with what its commands work on (a kernel, a size class of transfers).
// Its first Learn commands are timed; from then on one in N, where N grows with what is known (timed / Spread) and
// stays so small that timing takes a two-hundredth of the time of what it times: a command of two milliseconds is
// always timed. The gaps are random with mean N: a fixed step would see only one half of a program that alternates.
// The collector lets a timed command stand for the ones skipped before it.
//
// Invariant: a sample belongs to one thread; only mean_ns_ is written by others (whoever harvests).
// Cost: a few ns a command.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gt::tracer {

class SiteSample {
 public:
  static constexpr uint32_t Learn = 64, Spread = 8, MaxInterval = 64;
  static constexpr uint32_t TimePerCost = 200;  // of commands, at least, for each unit of cost
  static constexpr uint32_t CostNs = 10'000;  // of a timed command, with the dearest driver known (docs/measurements)

  uint32_t tag() const { return tag_; }
  void begin(uint32_t tag) {
    tag_ = tag;
    random_ = tag | 1;
    left_ = timed_ = 0;
    mean_ns_.store(0, std::memory_order_relaxed);
  }

  // Is the next command to be timed? `fixed`: the user's own interval; 0: ours.
  bool due(uint32_t fixed) {
    if (left_ > 0) {
      --left_;
      return false;
    }
    ++timed_;
    const uint32_t n = fixed ? fixed : interval();
    if (n > 1) left_ = draw() % (2 * n - 1);
    return true;
  }

  // One of its commands took `ns`.
  void learn(uint64_t ns) {
    const auto now = static_cast<int64_t>(std::min<uint64_t>(ns, 1'000'000'000));
    const int64_t mean = mean_ns_.load(std::memory_order_relaxed);
    mean_ns_.store(static_cast<uint32_t>(mean == 0 ? now : mean + (now - mean) / 8), std::memory_order_relaxed);
  }

  uint32_t interval() const {
    if (timed_ < Learn) return 1;
    const uint32_t mean = mean_ns_.load(std::memory_order_relaxed);
    const uint32_t affordable = mean ? TimePerCost * CostNs / mean : MaxInterval;
    return std::max(1u, std::min({timed_ / Spread, affordable, MaxInterval}));
  }

 private:
  uint32_t draw() {  // xorshift32
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    return random_ ^= random_ << 5;
  }

  uint32_t tag_ = 0, random_ = 1;
  uint32_t left_ = 0;   // commands to be skipped
  uint32_t timed_ = 0;
  std::atomic<uint32_t> mean_ns_{0};
};

}  // namespace gt::tracer
