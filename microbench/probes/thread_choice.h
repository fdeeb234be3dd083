// With how many threads should transfers be staged? Decided from rounds in each of which every count took its turn, so
// that a count is held against the fastest in the same moments.
// Thread safety: pure functions.
#pragma once

#include <span>
#include <vector>

namespace gt::bench {

constexpr double NearlyAsFast = 1.05;

struct ThreadTimes {
  unsigned threads = 0;
  std::vector<double> ns;  // one of each round
};

// The fewest threads that are surely (with 95 %) nearly as fast as the fastest count. Where too little was measured to
// be sure, that is the fastest itself: threads too many cost little, threads too few cost every transfer.
// REQUIRES: at least one count, all with as many rounds, at least one.
unsigned fewest_threads(std::span<const ThreadTimes> counts);

}  // namespace gt::bench
