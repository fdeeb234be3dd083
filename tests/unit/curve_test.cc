// The cost curves: interpolation, and refusal of nonsense. curve_fit_test.cc has the fit.
#include "traces/model/curves/curve.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

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

TEST_CASE("a quality that contradicts itself is unsound") {
  const CurveQuality good{64, 4096, 10, 2, 0.1, {64, 128}};
  CHECK(good.sound());
  const auto with = [&](auto change) {
    CurveQuality q = good;
    change(q);
    return q.sound();
  };
  CHECK_FALSE(with([](CurveQuality& q) { q.from = 8192; }));
  CHECK_FALSE(with([](CurveQuality& q) { q.from = 0; }));
  CHECK_FALSE(with([](CurveQuality& q) { q.to = std::numeric_limits<double>::infinity(); }));
  CHECK_FALSE(with([](CurveQuality& q) { q.to = std::nan(""); }));
  CHECK_FALSE(with([](CurveQuality& q) { q.outliers = 11; }));
  CHECK_FALSE(with([](CurveQuality& q) { q.worst_error = -1; }));
  CHECK_FALSE(with([](CurveQuality& q) { q.noisy = {128, 64}; }));
  CHECK_FALSE(with([](CurveQuality& q) { q.noisy = {64, 64}; }));
  CHECK_FALSE(with([](CurveQuality& q) { q.noisy = {8192}; }));
}
