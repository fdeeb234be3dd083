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
  InFlight(uint64_t most_bytes, std::chrono::milliseconds timeout) : most_(most_bytes), timeout_(timeout) {}

  uint64_t bytes() const { return bytes_; }
  // False: there is no room now.
  bool try_hold(uint64_t bytes);
  void let_go(uint64_t bytes);
  // It is of no use to wait for room for so many.
  bool refuses(uint64_t bytes) const { return refuses_ || (most_ != 0 && bytes > most_); }
  // No more waiting until something comes back.
  void refuse() { refuses_ = true; }

  // There is one thing more, or less, that commands may wait for and that comes from outside.
  void depends(int more) { outside_ += more; }

  // Has nothing come back for so long that nothing may come back any more? One for each who waits.
  class Watch {
   public:
    explicit Watch(const InFlight& of) : of_(of), seen_(of.returns_), since_(Clock::now()) {}
    bool is_stuck();
    // Something else has moved.
    void moved() { since_ = Clock::now(); }

   private:
    using Clock = std::chrono::steady_clock;
    const InFlight& of_;
    uint64_t seen_;
    Clock::time_point since_;
  };

  // Some of it, let go of when the value goes.
  class Share {
   public:
    Share() = default;
    Share(InFlight& of, uint64_t bytes) : of_(of.try_hold(bytes) ? &of : nullptr), bytes_(bytes) {}
    Share(Share&& other) noexcept : of_(std::exchange(other.of_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() { of_ ? of_->let_go(bytes_) : void(); }
    bool given() const { return of_ != nullptr; }

   private:
    InFlight* of_ = nullptr;
    uint64_t bytes_ = 0;
  };

 private:
  const uint64_t most_;
  const std::chrono::milliseconds timeout_;
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> returns_{0};  // calls of let_go()
  std::atomic<int> outside_{0};
  std::atomic<bool> refuses_{false};
};

}  // namespace gt::exec
