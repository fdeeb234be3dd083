// Is a link slow? What it takes for a byte, by chunks that were timed, and whether that is surely more than something
// else takes.
//
// A thread that woke up late is no slow link: one that is barely slow must be so three times, and nobody sleeps so long
// as a clearly slow one takes. A fast link is looked at again after OffDue bytes, a slow one after OnDue, and then
// after twice as many each time, up to what is asked for: at first a connection may be slower than it will be.
// Thread safety: none. Values in nanoseconds and bytes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gt::chunks {

class SlowLink {
 public:
  // The next chunk's time on the link is to be measured.
  bool wants_measure(uint64_t on_due = OnDue) const {
    return is_undecided() || unmeasured_ >= (is_fast_ ? OffDue : std::min(on_due, due_));
  }
  void sent(uint64_t bytes) { unmeasured_ += bytes; }
  // A chunk took so long; slow is what takes at least `least_ns` for a byte.
  void measured(uint64_t bytes, uint64_t ns, double least_ns) {
    unmeasured_ = 0;
    due_ = is_slow() ? std::min(2 * due_, MostDue) : OnDue;
    byte_ns_ = static_cast<double>(ns) / static_cast<double>(std::max<uint64_t>(bytes, 1));
    is_fast_ = byte_ns_ < least_ns;
    const unsigned points = byte_ns_ < FarSlower * least_ns ? 1 : ns < Surely_ns ? 2 : Enough;
    points_ = is_fast_ ? 0 : std::min(points_ + points, Enough);
  }
  bool is_slow() const { return points_ == Enough; }
  double byte_ns() const { return byte_ns_; }

  static constexpr uint64_t OnDue = uint64_t{64} << 20, OffDue = uint64_t{256} << 20, MostDue = uint64_t{1} << 30;

 private:
  static constexpr double FarSlower = 10.0 / 3;
  static constexpr unsigned Enough = 3;
  static constexpr uint64_t Surely_ns = 8'000'000;  // twice: it is half of a chunk that is timed

  bool is_undecided() const { return !is_fast_ && points_ < Enough; }

  double byte_ns_ = 0;
  unsigned points_ = 0;
  bool is_fast_ = false;
  uint64_t unmeasured_ = 0, due_ = OnDue;
};

}  // namespace gt::chunks
