// Does it pay to compress what is sent? What the link takes, what compressing costs, and what it has saved.
//
// Nothing of it is on where the link takes less than Least_ns for a byte: that is faster than compressing. Elsewhere it
// is on trial: it may cost a fiftieth of what sending costs, lives on what it saves, and looks more and more rarely at
// data of which nothing is saved: after 1, 2, 4, ... MostSkipped pieces.
//
//   a piece sent as it is   + bytes x link / 50       a piece tried   + (bytes - packed bytes) x link - what it cost
//
// While a piece is compressed the link sends the one before it. So what counts is the processor's time: half where
// processors are idle, as nothing else waits for it. And it must not be the link that waits: by the clock the last
// pieces took no longer than the link would have, in the mean; one of them may have been interrupted.
// Thread safety: none. Values in nanoseconds and bytes.
#pragma once

#include <algorithm>

#include "transport/chunks/packing.h"
#include "transport/chunks/slow_link.h"

namespace gt::chunks {

class PackAccount {
 public:
  explicit PackAccount(Packing packing) : packing_(packing) {}
  void set(Packing packing) { packing_ = packing; }
  Packing packing() const { return packing_; }

  // The next chunk is to go as it is, and its time on the link to be measured: rarely, where most does not go at all.
  bool wants_measure() const {
    return packing_.is_auto() && link_.wants_measure(misses_ == 0 ? SlowLink::MostDue : SlowLink::OnDue);
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
  // It took a processor so long, and the clock, and so many bytes are left of it.
  void tried(uint64_t bytes, uint64_t packed, uint64_t processor_ns, uint64_t ns, bool idle) {
    const double saved = static_cast<double>(bytes - packed) * link_.byte_ns(),
                 cost = static_cast<double>(processor_ns) * (idle ? IdleWeight : 1);
    book(saved - cost);
    const double took_ns = static_cast<double>(ns) / static_cast<double>(std::max<uint64_t>(bytes, 1));
    took_ns_ += (std::min(took_ns, Pieces * link_.byte_ns()) - took_ns_) / Pieces;
    const bool pays = saved > cost && took_ns_ < link_.byte_ns();
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
  static constexpr double IdleWeight = 0.5, Pieces = 8;
  static constexpr double Loan_ns = 5e6, Most_ns = 2e7;
  static constexpr unsigned MostMisses = 7;  // 64 pieces, 16 MiB

  void book(double ns) { balance_ns_ = std::min(balance_ns_ + ns, Most_ns); }

  Packing packing_;
  SlowLink link_;
  double balance_ns_ = Loan_ns;
  unsigned misses_ = 1, skip_ = 0;  // 1: nothing is known
  double took_ns_ = 0;              // for a byte, of the last Pieces
};

}  // namespace gt::chunks
