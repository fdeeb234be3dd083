// The fit: properties that hold for any samples, and how it stands against disturbed ones.
#include "traces/model/curves/curve_fit.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace gt::model;

namespace {

// A transfer: a call, then a bandwidth, then a lower one past the caches.
double truth(double size) { return 4000 + size / 11 + (size > 4e6 ? (size - 4e6) / 20 : 0); }

constexpr int Each = 30;  // samples a size

// `bad`: the share of samples that something else on the machine disturbed.
std::vector<Knot> samples_of_truth(std::mt19937& random, double bad, double spread) {
  std::normal_distribution<double> noise(1, spread);
  std::uniform_real_distribution<double> factor(3, 300);
  std::vector<Knot> out;
  for (double size = 64; size <= 1 << 28; size *= 2)
    for (int i = 0; i < Each; ++i)
      out.push_back({size, truth(size) * noise(random) * (i < bad * Each ? factor(random) : 1)});
  return out;
}

std::vector<Knot> any_samples(std::mt19937& random) {
  std::uniform_real_distribution<double> exponent(0, 28), time(1, 7);
  std::vector<Knot> out;
  for (int i = 0; i < 120; ++i) out.push_back({std::floor(std::exp2(exponent(random))), std::pow(10, time(random))});
  return out;
}

}  // namespace

TEST_CASE("the fit takes medians: one preempted sample does not count") {
  const Curve c = fit_curve({{64, 100}, {64, 1e9}, {64, 101}, {4096, 200}, {4096, 201}, {4096, 5e8}});
  CHECK(c(64) == doctest::Approx(101));
  CHECK(c(4096) == doctest::Approx(201));
}

TEST_CASE("the fit never descends, whatever the samples, and its quality is sound") {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const Curve c = fit_curve(any_samples(random));
    REQUIRE(Curve::make(c.knots()).ok());
    REQUIRE(c.quality());
    CHECK(c.quality()->sound());
    CHECK(c.quality()->samples == 120);
    double before = 0;
    for (double x = 0; x < 32; x += 0.25) {
      const double y = c(std::exp2(x));
      CHECK(y >= before * (1 - 1e-12));
      before = y;
    }
  }
}

TEST_CASE("where the medians ascend, the curve is within its tolerance of every one") {
  std::mt19937 random(8);
  for (const double tolerance : {0.01, 0.02, 0.1, 0.5}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<Knot> samples;
      double ns = 100;
      std::uniform_real_distribution<double> growth(1, 4);
      for (double size = 1; size < 1e9; size *= 2) samples.push_back({size, ns *= growth(random)});
      const Curve c = fit_curve(samples, tolerance);
      CHECK(c.quality()->worst_error <= tolerance * (1 + 1e-9) / (1 - tolerance / (1 + tolerance)));
      CHECK(worst_error(c, medians_of(samples)) == c.quality()->worst_error);
    }
  }
}

TEST_CASE("medians that ascend are kept to the last digit") {
  const std::vector<Knot> samples = {{64, 1234.567}, {128, 98765.4321}, {256, 1e6 / 3}};
  const Curve c = fit_curve(samples, 0.001);
  for (const Knot& k : samples) CHECK(c(k.size) == k.ns);
}

TEST_CASE("the order of the samples does not matter") {
  std::mt19937 random(9);
  std::vector<Knot> samples = samples_of_truth(random, 0.1, 0.05);
  const Curve c = fit_curve(samples);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(samples.begin(), samples.end(), random);
    CHECK(fit_curve(samples).knots() == c.knots());
    CHECK(fit_curve(samples).quality() == c.quality());
  }
}

TEST_CASE("the knees stay and the straight parts go") {
  std::vector<Knot> samples;
  for (double s = 64; s <= 1 << 28; s *= 2) samples.push_back({s, s < 65536 ? 10000 : 10000 * (s / 65536)});
  const Curve c = fit_curve(samples);
  CHECK(c.knots().size() <= 5);
  CHECK(worst_error(c, medians_of(samples)) < 0.03);
}

TEST_CASE("disturbed samples, up to a third of them, do not bend the curve") {
  std::mt19937 random(10);
  for (const double bad : {0.0, 0.1, 0.2, 0.34}) {
    const Curve c = fit_curve(samples_of_truth(random, bad, 0.02));
    for (double size = 64; size <= 1 << 28; size *= 1.37) {
      CHECK(c(size) < truth(size) * 1.1);
      CHECK(c(size) > truth(size) * 0.9);
    }
    const double disturbed = bad * static_cast<double>(c.quality()->samples);
    CHECK(static_cast<double>(c.quality()->outliers) >= 0.95 * disturbed);
  }
}

TEST_CASE("a size at which everything was disturbed does not lift its neighbours") {
  std::mt19937 random(12);
  std::vector<Knot> samples = samples_of_truth(random, 0.1, 0.02);
  std::uniform_real_distribution<double> factor(1, 40);
  for (Knot& k : samples)
    if (k.size == 256) k.ns *= factor(random);
  const Curve c = fit_curve(samples);
  for (const double size : {64.0, 128.0, 512.0, 1024.0, 65536.0}) CHECK(c(size) < truth(size) * 1.1);
  CHECK_FALSE(c.trusted(256));
}

TEST_CASE("it says where it is not to be trusted") {
  std::mt19937 random(11);
  std::vector<Knot> samples = samples_of_truth(random, 0, 0.01);
  std::uniform_real_distribution<double> anything(0.2, 5);
  for (Knot& k : samples)
    if (k.size == 65536) k.ns = truth(65536) * anything(random);
  const Curve c = fit_curve(samples);
  CHECK(c.quality()->noisy == std::vector<double>{65536});
  CHECK(c.quality()->from == 64);
  CHECK(c.quality()->to == 1 << 28);
  CHECK(c.trusted(64));
  CHECK(c.trusted(1 << 28));
  CHECK_FALSE(c.trusted(40000));
  CHECK_FALSE(c.trusted(100000));
  CHECK(c.trusted(131072));
  CHECK_FALSE(c.trusted(32));
  CHECK_FALSE(c.trusted(1 << 29));
  const Curve plain = Curve::make(c.knots()).value();
  CHECK_FALSE(plain.quality());
  CHECK(plain.trusted(65536));
  CHECK_FALSE(plain.trusted(1 << 29));
}

TEST_CASE("one sample a size is believed, but called noisy") {
  const Curve c = fit_curve({{64, 100}, {128, 200}});
  CHECK(c(128) == doctest::Approx(200));
  CHECK(c.quality()->noisy == std::vector<double>{64, 128});
}

TEST_CASE("unusable samples are left out; none gives an empty curve") {
  CHECK(fit_curve({}).empty());
  CHECK(fit_curve({{0, 1}, {64, -3}, {std::nan(""), 1}, {64, std::numeric_limits<double>::infinity()}}).empty());
  CHECK(fit_curve({{64, 0}})(64) > 0);
}
