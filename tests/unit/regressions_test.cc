// What counts as slower between two traces.
#include "tracer/gtrace/compare/regressions.h"

#include <doctest/doctest.h>

namespace {

using namespace gt::tracer;
constexpr uint64_t Ms = 1'000'000;

TimeChange change(const char* name, uint64_t a_ns, uint64_t b_ns) { return {name, 1, 1, a_ns, b_ns}; }

TEST_CASE("a percentage") {
  CHECK(parse_percentage("5%").value() == doctest::Approx(0.05));
  CHECK(parse_percentage("5").value() == doctest::Approx(0.05));
  CHECK(parse_percentage("0").value() == 0);
  CHECK(parse_percentage("0.5%").value() == doctest::Approx(0.005));
  for (const char* const wrong : {"", "%", "5%%", "-1", "-1%", "nan", "inf", "fast", "5 %", "0x5"})
    CHECK_FALSE(parse_percentage(wrong).has_value());
}

TEST_CASE("the sum and what is large in it") {
  TimeChanges c;
  c.kernels = {change("large", 100 * Ms, 150 * Ms), change("small", 2 * Ms, 4 * Ms),
               change("faster", 50 * Ms, 40 * Ms)};
  const auto found = find_regressions(c, 0.05);
  REQUIRE(found.size() == 2);  // what doubled is a fiftieth of the sum: it says nothing alone
  CHECK(found[0].name == "all of them");
  CHECK(found[0].a_ns == 152 * Ms);
  CHECK(found[0].b_ns == 194 * Ms);
  CHECK(found[1].name == "large");
  CHECK(found[1].growth() == doctest::Approx(0.5));
  CHECK(find_regressions(c, 0.6).empty());
}

TEST_CASE("less than a millisecond is noise") {
  TimeChanges c;
  c.transfers = {change("h2d", Ms / 2, Ms)};
  CHECK(find_regressions(c, 0.05).empty());
  c.transfers = {change("h2d", Ms / 2, 2 * Ms)};
  CHECK(find_regressions(c, 0.05).size() == 2);
}

TEST_CASE("what is new counts in the sum, what is gone does not") {
  TimeChanges c;
  c.kernels = {change("old", 10 * Ms, 10 * Ms), change("new", 0, 10 * Ms)};
  const auto found = find_regressions(c, 0.05);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "all of them");
  c.kernels = {change("gone", 10 * Ms, 0)};
  CHECK(find_regressions(c, 0.05).empty());
  c.kernels = {change("first", 0, 10 * Ms)};  // nothing to compare it with
  CHECK(find_regressions(c, 0.05).empty());
}

TEST_CASE("allocated bytes are not judged") {
  TimeChanges c;
  c.allocations = {change("malloc", 10 * Ms, 100 * Ms)};
  CHECK(find_regressions(c, 0.05).empty());
}

}  // namespace
