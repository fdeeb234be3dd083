// The two functions of the cost model, read off the curves.
#include "traces/model/profile/policy_costs.h"

#include <doctest/doctest.h>

using namespace gt::model;

namespace {

Curve line(double ns_a_byte) { return Curve::make({{1, ns_a_byte}, {1e9, 1e9 * ns_a_byte}}).value(); }

DeviceCosts device() {
  DeviceCosts d;
  PolicyCosts c;
  c.allocation = line(3);
  c.h2d = line(2);
  c.d2h = line(1);
  d.policies[static_cast<size_t>(Policy::Standard)] = c;
  c.max_bytes = 4096;
  d.policies[static_cast<size_t>(Policy::Locked)] = c;
  return d;
}

}  // namespace

TEST_CASE("allocation and communication overhead") {
  const DeviceCosts d = device();
  CHECK(*allocation_overhead(d, Policy::Standard, 1000) == doctest::Approx(3000));
  CHECK(*communication_overhead(d, Policy::Standard, 1000, 1) == doctest::Approx(2000));
  CHECK(*communication_overhead(d, Policy::Standard, 1000, 0) == doctest::Approx(1000));
  CHECK(*communication_overhead(d, Policy::Standard, 1000, 0.25) == doctest::Approx(1250));
  CHECK_FALSE(allocation_overhead(d, Policy::Pin, 1000));
  CHECK_FALSE(communication_overhead(d, Policy::Pin, 1000, 1));
}

TEST_CASE("refused sizes have no allocation overhead") {
  const DeviceCosts d = device();
  CHECK(allocation_overhead(d, Policy::Locked, 4096));
  CHECK_FALSE(allocation_overhead(d, Policy::Locked, 4097));
  CHECK_FALSE(predicted_s(d, Policy::Locked, {1, 4097, 1, 100, 1}));
  CHECK(predicted_s(d, Policy::Locked, {1, 4096, 1, 100, 1}));
}

TEST_CASE("what a site costs is the sum of both") {
  // Ten blocks of 1000 bytes, each sent twice: the blocks are reused, so eight are paid for.
  CHECK(*predicted_s(device(), Policy::Standard, {10, 1000, 2, 1000, 1}) ==
        doctest::Approx((8 * 3000 + 20 * 2000) * 1e-9));
}

TEST_CASE("trust needs all three curves") {
  DeviceCosts d = device();
  CHECK(trusted(d, Policy::Standard, 1000));
  CHECK_FALSE(trusted(d, Policy::Pin, 1000));
  CHECK_FALSE(trusted(d, Policy::Locked, 5000));
  CHECK_FALSE(trusted(d, Policy::Standard, 2e9));
  PolicyCosts& c = *d.policies[static_cast<size_t>(Policy::Standard)];
  c.d2h.set_quality({1, 1e6, 9, 0, 0, {1000}});
  CHECK_FALSE(trusted(d, Policy::Standard, 1000));
  CHECK(trusted(d, Policy::Standard, 4000));
}
