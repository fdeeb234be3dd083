// How many copying threads are chosen, from times that are known, that are noisy, and that drift.
#include "microbench/probes/thread_choice.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace gt::bench;

namespace {

// `true_ns` of 1, 2, 4, ... threads, each time off by up to `noise`; all of a round are slowed down alike by `drift`.
std::vector<ThreadTimes> rounds(std::vector<double> true_ns, int n, double noise, unsigned seed, double drift = 0) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> error(1 - noise, 1 + noise), slower(1, 1 + drift);
  std::vector<ThreadTimes> out;
  for (size_t i = 0; i < true_ns.size(); ++i) out.push_back({1u << i, {}});
  for (int k = 0; k < n; ++k) {
    const double moment = slower(random);
    for (size_t i = 0; i < true_ns.size(); ++i) out[i].ns.push_back(true_ns[i] * moment * error(random));
  }
  return out;
}

}  // namespace

TEST_CASE("the fewest threads that are nearly as fast, when times are known") {
  CHECK(fewest_threads(rounds({10, 6, 4, 3, 3.1}, 3, 0, 1)) == 8);
  CHECK(fewest_threads(rounds({10, 6, 3.1, 3, 3.1}, 3, 0, 1)) == 4);
  CHECK(fewest_threads(rounds({3, 3, 3, 3, 3}, 3, 0, 1)) == 1);
  CHECK(fewest_threads(rounds({3, 6, 9}, 3, 0, 1)) == 1);
  CHECK(fewest_threads(rounds({7}, 1, 0, 1)) == 1);
}

TEST_CASE("noise never makes it choose threads that are clearly too few") {
  const std::vector<double> truth = {10, 6, 4, 3.4, 3};
  for (unsigned seed = 0; seed < 500; ++seed)
    for (const int n : {1, 3, 7, 40})
      CHECK(fewest_threads(rounds(truth, n, 0.05, seed)) >= 8);  // 13 % slower than 16 threads: the noise of one round
}

TEST_CASE("a machine that is disturbed now and then chooses as one that is not") {
  for (unsigned seed = 0; seed < 200; ++seed)
    CHECK(fewest_threads(rounds({10, 6, 3.06, 3, 3}, 7, 0.01, seed, 2.0)) == 4);
}

TEST_CASE("more rounds find that fewer threads do") {
  const auto mean_bits = [](int n) {
    double sum = 0;
    for (unsigned seed = 0; seed < 200; ++seed)
      sum += std::log2(fewest_threads(rounds({10, 6, 3, 3, 3}, n, 0.08, seed)));
    return sum / 200;
  };
  CHECK(mean_bits(40) < mean_bits(3));
  CHECK(mean_bits(40) < 2.4);
}
