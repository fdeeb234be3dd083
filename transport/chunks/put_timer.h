// How long chunks take on a link: while one is under way the one before it arrives, and from then on the link has
// nothing else to do. So what a round trip takes does not count, but for the first one of a row; behind others that are
// not timed the first one is not, either. One that has arrived already when the next is put is not timed: nobody knows
// when it did.
// Thread safety: none. Cost: who puts waits for the arrival of the chunk before, so chunks are timed now and then.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "traces/base/clock.h"
#include "transport/link/base/link.h"

namespace gt::chunks {

class PutTimer {
 public:
  struct Took {
    uint64_t bytes, ns;
  };
  // `put` puts a chunk of so many bytes and gives its ticket; `idle`: the link has nothing else of ours to do. What the
  // one before it took, where that can be told.
  template <class Put>
  std::optional<Took> put(wire::Link& link, uint64_t bytes, bool idle, Put put) {
    std::optional<Timed> before = std::exchange(timed_, std::nullopt);
    if (before && link.test(before->ticket)) before.reset();
    const uint64_t now = monotonic_ns();
    timed_ = {put(), bytes, now, idle || before};
    return before ? taken(link, *before) : std::nullopt;
  }
  // None follows for now.
  std::optional<Took> end(wire::Link& link) {
    const std::optional<Timed> last = std::exchange(timed_, std::nullopt);
    return last ? taken(link, *last) : std::nullopt;
  }
  void forget() { timed_.reset(); }

 private:
  struct Timed {
    wire::Ticket ticket = 0;
    uint64_t bytes = 0, begin_ns = 0;
    bool counts = false;
  };
  std::optional<Took> taken(wire::Link& link, const Timed& chunk) {
    if (!link.wait(chunk.ticket).ok()) return {};
    const uint64_t now = monotonic_ns(), begin = std::max(chunk.begin_ns, std::exchange(until_ns_, now));
    return chunk.counts ? std::optional(Took{chunk.bytes, now - begin}) : std::nullopt;
  }

  std::optional<Timed> timed_;  // under way
  uint64_t until_ns_ = 0;       // when the one before it had arrived
};

}  // namespace gt::chunks
