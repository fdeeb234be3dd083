// Host memory that is held until a command is over, against the limit of one client.
//
// Who finds no room waits: what others hold comes back as their commands end. It comes back by itself unless a command
// waits for something that this session cannot bring about alone: a user event that the client has yet to set, a peer.
// Only then, when nothing has come back for `timeout`, the memory is refused; and from then on at once, until
// something comes back: a client whose next hundred transfers stand before what would end them hears of it soon.
// Thread safety: all functions.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

namespace gt::exec {

class InFlight {
 public:
  // `most_bytes`: 0 for no limit.
  InFlight(uint64_t most_bytes, std::chrono::milliseconds timeout) : x_most(most_bytes), x_timeout(timeout) {}

  uint64_t bytes() const { return x_bytes; }
  // False: there is no room now.
  bool try_hold(uint64_t bytes);
  void let_go(uint64_t bytes);
  // It is of no use to wait for room for so many.
  bool refuses(uint64_t bytes) const { return x_refuses || (x_most != 0 && bytes > x_most); }
  // No more waiting until something comes back.
  void refuse() { x_refuses = true; }

  // There is one thing more, or less, that commands may wait for and that comes from outside.
  void depends(int more) { x_outside += more; }

  // Has nothing come back for so long that nothing may come back any more? One for each who waits.
  class Watch {
   public:
    explicit Watch(const InFlight& of) : x_of(of), x_seen(of.x_returns), x_since(Clock::now()) {}
    bool is_stuck();
    // Something else has moved.
    void moved() { x_since = Clock::now(); }

   private:
    using Clock = std::chrono::steady_clock;
    const InFlight& x_of;
    uint64_t x_seen;
    Clock::time_point x_since;
  };

  // Some of it, let go of when the value goes.
  class Share {
   public:
    Share() = default;
    Share(InFlight& of, uint64_t bytes) : x_of(of.try_hold(bytes) ? &of : nullptr), x_bytes(bytes) {}
    Share(Share&& other) noexcept : x_of(std::exchange(other.x_of, nullptr)), x_bytes(other.x_bytes) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(x_of, other.x_of);
      std::swap(x_bytes, other.x_bytes);
      return *this;
    }
    ~Share() { x_of ? x_of->let_go(x_bytes) : void(); }
    bool given() const { return x_of != nullptr; }

   private:
    InFlight* x_of = nullptr;
    uint64_t x_bytes = 0;
  };

 private:
  const uint64_t x_most;
  const std::chrono::milliseconds x_timeout;
  std::atomic<uint64_t> x_bytes{0};
  std::atomic<uint64_t> x_returns{0};  // calls of let_go()
  std::atomic<int> x_outside{0};
  std::atomic<bool> x_refuses{false};
};

}  // namespace gt::exec
