// The nonparametric median: its interval against the binomial distribution and against many draws; outliers.
#include "traces/model/curves/median.h"

#include <doctest/doctest.h>

#include <random>

using namespace gt::model;

TEST_CASE("ranks of the 95 % interval are those of the tables") {
  // Conover, Practical Nonparametric Statistics: the sign test at 0.05.
  CHECK(statistics::interval_rank(5) == 1);  // not reached: the extremes
  CHECK(statistics::interval_rank(6) == 1);
  CHECK(statistics::interval_rank(8) == 1);
  CHECK(statistics::interval_rank(9) == 2);
  CHECK(statistics::interval_rank(10) == 2);
  CHECK(statistics::interval_rank(12) == 3);
  CHECK(statistics::interval_rank(15) == 4);
  CHECK(statistics::interval_rank(20) == 6);
  CHECK(statistics::interval_rank(25) == 8);
  CHECK(statistics::interval_rank(50) == 18);
  CHECK(statistics::interval_rank(100) == 40);
  CHECK(statistics::interval_rank(500) == statistics::interval_rank(501));
}

TEST_CASE("few samples") {
  const Median one = median_of({7});
  CHECK(one.value == 7);
  CHECK(one.low == 7);
  CHECK(one.noise() == 1);
  CHECK(median_of({1, 3}).value == 2);
  const Median three = median_of({3, 1, 2});
  CHECK(three.value == 2);
  CHECK(three.low == 1);
  CHECK(three.high == 3);
  CHECK(three.noise() == doctest::Approx(0.5));
}

TEST_CASE("the interval holds the true median as often as it says, whatever the distribution") {
  std::mt19937 random(5);
  std::lognormal_distribution<double> skewed(3, 1.5);  // median: e^3
  const double truth = std::exp(3.0);
  for (const size_t n : {9u, 20u, 60u}) {
    int held = 0;
    constexpr int Rounds = 2000;
    for (int round = 0; round < Rounds; ++round) {
      std::vector<double> samples(n);
      for (double& s : samples) s = skewed(random);
      const Median m = median_of(samples);
      held += m.low <= truth && truth <= m.high;
    }
    CHECK(held > 0.94 * Rounds);
    CHECK(held < 0.995 * Rounds);  // an interval that is always right is too wide
  }
}

TEST_CASE("outliers are counted, and move the median little") {
  std::mt19937 random(6);
  std::normal_distribution<double> times(1000, 20);
  for (const int bad : {0, 1, 5, 10}) {
    std::vector<double> samples;
    for (int i = 0; i < 50; ++i) samples.push_back(i < bad ? 1e6 + i : times(random));
    const Median m = median_of(samples);
    CHECK(m.outliers == static_cast<size_t>(bad));
    CHECK(m.value == doctest::Approx(1000).epsilon(0.03));
  }
  CHECK(median_of({5, 5, 5, 5, 5, 5.01}).outliers == 0);  // within what a clock can tell
  CHECK(median_of({5, 5, 5, 5, 5, 9}).outliers == 1);
  CHECK(median_of({100, 101, 99, 100, 3}).outliers == 1);  // too fast is as strange as too slow
}
