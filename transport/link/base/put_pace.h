// What a link takes for a byte, without what it takes for a round trip: how the acknowledgements of the parts of one
// large put follow each other.
//
//   sent           |0|1|2|3|4|5|
//   acknowledged              0 1 2 3 4 5
//                             ^---------^    the time for the bytes of 1 to 5
//
// While a large put is under way the sender has something to send all the time; so neither the delay counts nor what
// the link was busy with before. A thread that was interrupted, or a connection that has just begun, slows down one
// half of it, a slow link both: so it is the faster half that counts, and nothing is said where the other one took far
// longer. Of the last two such puts it can be asked for.
// Thread safety: none. Pure: times come in as arguments.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "transport/link/base/link.h"

namespace gt::wire {

class PutPace {
 public:
  static constexpr uint64_t Least = Link::LeastPaced;

  // So many bytes of a put of at least Least have been acknowledged, together.
  void acknowledged(Ticket put, uint64_t bytes, uint64_t now_ns) {
    if (put != last_.put) {
      before_ = last_;
      last_ = {put, now_ns, bytes, 0, {}};
      return;
    }
    last_.arrived += bytes;
    if (now_ns == last_.first_ns) return;
    last_.behind_first += bytes;
    if (last_.count == last_.seen.size()) last_.thin_out();
    last_.seen[last_.count++] = {last_.behind_first, now_ns - last_.first_ns};
  }
  uint64_t arrived(Ticket put) const { return of(put).arrived; }
  // None: too little has arrived behind the first part, the halves disagree, or too much has come after this put.
  std::optional<Pace> pace(Ticket put) const {
    constexpr double MostTimes = 3;
    const Put& of_put = of(put);
    if (of_put.behind_first < Least / 4 || of_put.count < 2) return {};
    const Pace all = of_put.seen[of_put.count - 1];
    const Pace begin = *std::find_if(of_put.seen.begin(), of_put.seen.end(),
                                     [&](const Pace& seen) { return seen.bytes >= all.bytes / 2; });
    const Pace end{all.bytes - begin.bytes, all.ns - begin.ns};
    if (end.bytes < all.bytes / 4) return all;  // so much was acknowledged at once that there are no halves
    const double b = byte_ns(begin), e = byte_ns(end);
    if (std::max(b, e) > MostTimes * std::min(b, e)) return {};
    return b < e ? begin : end;
  }

 private:
  struct Put {
    Ticket put = 0;
    uint64_t first_ns = 0, arrived = 0, behind_first = 0;
    std::array<Pace, 32> seen{};  // all behind the first part, when some of it had come
    size_t count = 0;

    void thin_out() {
      for (size_t i = 0; i < count / 2; ++i) seen[i] = seen[2 * i + 1];
      count /= 2;
    }
  };
  static double byte_ns(const Pace& pace) { return static_cast<double>(pace.ns) / static_cast<double>(pace.bytes); }
  const Put& of(Ticket put) const {
    static constexpr Put None;
    return put == last_.put ? last_ : put == before_.put ? before_ : None;
  }

  Put last_, before_;
};

}  // namespace gt::wire
