// The cost curves: fitting, monotonicity, interpolation, refusal of nonsense.
#include "traces/model/curve.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace gt::model;

TEST_CASE("interpolation is exact on power laws and constant below the first knot") {
  const Curve c = Curve::make({{1024, 1000}, {1 << 20, 1024000}}).value();
  CHECK(c(1) == doctest::Approx(1000));
  CHECK(c(1024) == doctest::Approx(1000));
  CHECK(c(32768) == doctest::Approx(32000));
  CHECK(c(1 << 21) == doctest::Approx(2048000));
}

TEST_CASE("what breaks the invariant is refused") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK_FALSE(Curve::make({{0, 5}}).ok());
  CHECK_FALSE(Curve::make({{64, 0}}).ok());
  CHECK_FALSE(Curve::make({{64, -1}}).ok());
  CHECK_FALSE(Curve::make({{64, inf}}).ok());
  CHECK_FALSE(Curve::make({{64, std::nan("")}}).ok());
  CHECK_FALSE(Curve::make({{64, 5}, {64, 6}}).ok());
  CHECK_FALSE(Curve::make({{64, 5}, {128, 4}}).ok());
  CHECK(Curve::make({}).ok());
}

TEST_CASE("the fit takes medians: one preempted sample does not count") {
  const Curve c =
      fit_curve({{64, 100}, {64, 1e9}, {64, 101}, {4096, 200}, {4096, 201}, {4096, 5e8}});
  CHECK(c(64) == doctest::Approx(101));
  CHECK(c(4096) == doctest::Approx(201));
}

TEST_CASE("the fit never descends, whatever the samples") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(0, 28), time(1, 7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Knot> samples;
    for (int i = 0; i < 60; ++i)
      samples.push_back({std::floor(std::exp2(exponent(random))), std::pow(10, time(random))});
    const Curve c = fit_curve(samples);
    REQUIRE(Curve::make(c.knots()).ok());
    double before = 0;
    for (double x = 0; x < 32; x += 0.25) {
      const double y = c(std::exp2(x));
      CHECK(y >= before * (1 - 1e-12));
      before = y;
    }
  }
}

TEST_CASE("the knees stay and the straight parts go") {
  std::vector<Knot> samples;
  for (double s = 64; s <= 1 << 28; s *= 2)
    samples.push_back({s, s < 65536 ? 10000 : 10000 * (s / 65536)});
  const Curve c = fit_curve(samples);
  CHECK(c.knots().size() <= 5);
  CHECK(worst_error(c, samples) < 0.03);
}

TEST_CASE("unusable samples are left out; none gives an empty curve") {
  CHECK(fit_curve({}).empty());
  CHECK(fit_curve({{0, 1}, {64, -3}, {std::nan(""), 1}}).empty());
  CHECK(fit_curve({{64, 0}})(64) > 0);
}
