// Does it pay to name what is sent? What the link takes, what naming costs, and what it has saved.
//
// Naming begins where the link is at least LinkOverHash times slower than the hash: elsewhere nothing of it is on. Then
// it is on trial: it may cost a fiftieth of what sending costs, lives on what it saves as soon as something is found,
// and loses at most Most_ns when nothing is found any more. So an irregular program is 2 % slower at worst, most of it
// beside the link's own work.
//
//   a chunk that was sent    + sent bytes x link / 50       a piece named and known      + bytes x link - hash
//                                                           a piece named, not known     - hash
//   the proxy lacked it      - bytes x link
//
// What is sent may be kept by the proxy as long as that seems to be of use: half of its room without anything found.
// Thread safety: none. Values in nanoseconds and bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "optimizer-rt/client/base/configuration.h"
#include "transport/chunks/slow_link.h"

namespace gt::virt {

class ChunkAccount {
 public:
  explicit ChunkAccount(DedupMode mode) : mode_(mode) {}
  void set_mode(DedupMode mode) { mode_ = mode; }

  // The next chunk's time on the link is to be measured.
  bool wants_measure() const { return mode_ == DedupMode::Auto && link_.wants_measure(); }
  void measured(uint64_t bytes, uint64_t ns) { link_.measured(bytes, ns, LinkOverHash * hash_ns_); }
  // The link is slow enough.
  bool is_on() const { return mode_ == DedupMode::Always || (mode_ == DedupMode::Auto && link_.is_slow()); }

  bool may_name() const { return mode_ == DedupMode::Always || (is_on() && balance_ns_ > 0); }
  void named(uint64_t bytes, uint64_t ns, bool known) {
    const auto cost = static_cast<double>(ns), size = static_cast<double>(bytes);
    hash_ns_ += (std::clamp(cost / std::max(size, 1.0), LeastHash_ns, MostHash_ns) - hash_ns_) / 8;
    book((known ? size * link_.byte_ns() : 0) - cost);
    if (known) may_keep_ = std::min(may_keep_ + bytes, room_ / 2);
  }
  void missed(uint64_t bytes) { book(-static_cast<double>(bytes) * link_.byte_ns()); }
  void sent(uint64_t bytes) {
    link_.sent(bytes);
    book(static_cast<double>(bytes) * link_.byte_ns() / Share);
  }

  // The proxy's room for what it keeps.
  void set_room(uint64_t room) {
    if (room != room_) may_keep_ = room / 2;
    room_ = room;
  }
  bool may_keep(uint64_t bytes) {
    if (mode_ == DedupMode::Always) return room_ != 0;
    if (!is_on() || bytes > may_keep_) return false;
    may_keep_ -= bytes;
    return true;
  }

 private:
  static constexpr double LinkOverHash = 3, Share = 50;
  static constexpr double Loan_ns = 5e6, Most_ns = 2e7;
  static constexpr double LeastHash_ns = 0.2, MostHash_ns = 5;

  void book(double ns) { balance_ns_ = std::min(balance_ns_ + ns, Most_ns); }

  DedupMode mode_;
  chunks::SlowLink link_;
  double hash_ns_ = 0.6;  // for a byte
  double balance_ns_ = Loan_ns;
  uint64_t room_ = 0, may_keep_ = 0;
};

}  // namespace gt::virt
