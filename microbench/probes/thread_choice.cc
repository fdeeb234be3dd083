// By the ratios of rounds.
#include "microbench/probes/thread_choice.h"

#include <algorithm>

#include "traces/model/curves/median.h"

namespace gt::bench {
namespace {

bool is_surely_nearly_as_fast(const ThreadTimes& one, const ThreadTimes& fastest) {
  std::vector<double> ratios;
  for (size_t i = 0; i < one.ns.size(); ++i) ratios.push_back(one.ns[i] / fastest.ns[i]);
  return model::median_of(std::move(ratios)).high <= NearlyAsFast;
}

}  // namespace

unsigned fewest_threads(std::span<const ThreadTimes> counts) {
  const auto median = [](const ThreadTimes& t) { return model::median_of(t.ns).value; };
  const ThreadTimes& fastest = *std::ranges::min_element(counts, {}, median);
  unsigned fewest = fastest.threads;
  for (const ThreadTimes& t : counts)
    if (t.threads < fewest && is_surely_nearly_as_fast(t, fastest)) fewest = t.threads;
  return fewest;
}

}  // namespace gt::bench
