// Whether a thread looks for a while before it sleeps. Waking one up costs 5 us and more, so looking pays where what it
// waits for comes within some microseconds; it costs a processor, so only where there is one for the peer, too, and
// only while it has paid lately: a thread that waited in vain a few times sleeps at once, and tries again now and then.
// It looks for longer than the other end takes to be woken: else two ends that have begun to sleep never find each
// other awake again (docs/measurements/remote.md, "What waiting costs").
//
// Thread safety: all functions.
#pragma once

#include <atomic>
#include <cstdint>

namespace gt::wire {

constexpr uint64_t Spin_ns = 50'000;

// Whether short spins can help at all: there are more than two processors.
bool may_spin();

class SpinPolicy {
 public:
  bool allows() {
    if (!may_spin()) return false;
    if (credit_.load(std::memory_order_relaxed) > 0) return true;
    return declined_.fetch_add(1, std::memory_order_relaxed) % TryAgain == TryAgain - 1;
  }
  // What came of it.
  void spun(bool paid) {
    const int credit = credit_.load(std::memory_order_relaxed);
    if (paid ? credit != Credit : credit > 0) credit_.store(paid ? Credit : credit - 1, std::memory_order_relaxed);
  }

 private:
  static constexpr int Credit = 8;
  static constexpr uint32_t TryAgain = 32;
  std::atomic<int> credit_{Credit};
  std::atomic<uint32_t> declined_{0};
};

// For the body of a loop that looks.
inline void pause() { __builtin_ia32_pause(); }

}  // namespace gt::wire
