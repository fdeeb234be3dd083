// Does it pay to compress what is sent? What the link takes, what compressing costs, and what it has saved.
//
// Nothing of it is on where the link takes less than Least_ns for a byte: that is faster than compressing. Elsewhere it
// is on trial: it may cost a fiftieth of what sending costs, lives on what it saves, and looks more and more rarely at
// data of which nothing is saved: after 1, 2, 4, ... MostSkipped pieces.
//
//   a piece sent as it is   + bytes x link / 50       a piece tried   + (bytes - packed bytes) x link - what it cost
//
// While a piece is compressed the link sends the one before it; so on a machine with idle processors its time counts
// half, as nothing else waits for it, and on a busy one half as much again, as the program does.
// Thread safety: none. Values in nanoseconds and bytes.
#pragma once

#include "transport/chunks/slow_link.h"

namespace gt::chunks {

// What the user wants: as it pays, always at a level of zstd's (1 to 19), or never. As a number of a message.
class Packing {
 public:
  static constexpr uint8_t Largest = 19;

  constexpr Packing() = default;
  constexpr explicit Packing(uint8_t number) : number_(number > Largest && number != AutoNumber ? 0 : number) {}
  static constexpr Packing automatic() { return Packing(AutoNumber); }
  static constexpr Packing always(uint8_t level) { return Packing(level); }

  constexpr uint8_t number() const { return number_; }
  constexpr bool is_never() const { return number_ == 0; }
  constexpr bool is_auto() const { return number_ == AutoNumber; }
  constexpr int level() const { return number_; }  // REQUIRES: neither

 private:
  static constexpr uint8_t AutoNumber = 255;
  uint8_t number_ = 0;
};

class PackAccount {
 public:
  explicit PackAccount(Packing packing) : packing_(packing) {}
  void set(Packing packing) { packing_ = packing; }
  Packing packing() const { return packing_; }

  // The next chunk is to go as it is, and its time on the link to be measured: rarely, where most does not go at all.
  bool wants_measure() const {
    return packing_.is_auto() && link_.wants_measure(misses_ == 0 ? 16 * SlowLink::OnDue : SlowLink::OnDue);
  }
  void measured(uint64_t bytes, uint64_t ns) { link_.measured(bytes, ns, Least_ns); }
  bool is_on() const { return !packing_.is_never() && (!packing_.is_auto() || link_.is_slow()); }
  int level() const { return packing_.is_auto() ? link_.byte_ns() < Slow_ns ? 1 : 3 : packing_.level(); }

  // Is the next piece to be tried? One question for each.
  bool may_try() {
    if (!is_on() || !packing_.is_auto()) return is_on();
    if (skip_ > 0) return --skip_, false;
    return balance_ns_ > 0;
  }
  // It took so long, and so many bytes are left of it.
  void tried(uint64_t bytes, uint64_t packed, uint64_t ns, bool idle) {
    const double saved = static_cast<double>(bytes - packed) * link_.byte_ns(),
                 cost = static_cast<double>(ns) * (idle ? IdleWeight : BusyWeight);
    book(saved - cost);
    const bool pays = saved > cost && static_cast<double>(ns) < static_cast<double>(bytes) * link_.byte_ns();
    misses_ = pays ? 0 : std::min(misses_ + 1, MostMisses);
    skip_ = pays ? 0 : 1u << (misses_ - 1);
  }
  // As they are.
  void sent(uint64_t bytes) {
    link_.sent(bytes);
    book(static_cast<double>(bytes) * link_.byte_ns() / Share);
  }

 private:
  static constexpr double Least_ns = 2, Slow_ns = 30, Share = 50;
  static constexpr double IdleWeight = 0.5, BusyWeight = 1.5;
  static constexpr double Loan_ns = 5e6, Most_ns = 2e7;
  static constexpr unsigned MostMisses = 7;  // 64 pieces, 16 MiB

  void book(double ns) { balance_ns_ = std::min(balance_ns_ + ns, Most_ns); }

  Packing packing_;
  SlowLink link_;
  double balance_ns_ = Loan_ns;
  unsigned misses_ = 1, skip_ = 0;  // 1: nothing is known
};

}  // namespace gt::chunks
