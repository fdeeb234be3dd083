// Staging that takes longer than the curves promise: when it is suspended, and when not.
#include "optimizer-rt/pool/staging_trial.h"

#include <doctest/doctest.h>

using namespace gt::opt;

namespace {

using Turn = TrialAccount::Turn;
constexpr double Driver = 1e6;  // ns: 1 ms a transfer

// How often the trial turned in so many transfers, of which each takes `took` where it is staged.
int turns(StagingTrial& trial, int transfers, double took) {
  int n = 0;
  for (int i = 0; i < transfers; ++i)
    if (trial.takes_next()) n += trial.book({took, Driver}) != Turn::None;
  return n;
}

SizeCosts flat(float ns) {
  SizeCosts c{};
  for (float& one : c.ns) one = ns;
  return c;
}

struct Trial : StagingTrial {
  Trial() { open(); }
};

}  // namespace

TEST_CASE("staging that keeps its promise is never suspended, whatever a machine's hiccups") {
  Trial trial;
  for (int round = 0; round < 1000; ++round) {
    CHECK(turns(trial, 100, 0.5e6) == 0);
    CHECK(turns(trial, 5, 40e6) == 0);  // five in a row are held up for as long as a scheduler holds up
    CHECK(turns(trial, 1, 60e9) == 0);  // stopped in a debugger
  }
}

TEST_CASE("staging that is a little slower than the driver is suspended, too, after a margin") {
  Trial trial;
  CHECK(turns(trial, 499, 1.1e6) == 0);
  CHECK(turns(trial, 2, 1.1e6) == 1);
  CHECK(trial.is_suspended());
}

TEST_CASE("staging that is much slower loses ten transfers, then one in sixteen and fewer") {
  Trial trial;
  CHECK(turns(trial, 9, 100e6) == 1);
  int staged = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (!trial.takes_next()) continue;
    ++staged;
    trial.book({100e6, Driver});
  }
  CHECK(trial.is_suspended());
  CHECK(staged < 50);
}

TEST_CASE("it is given again when its samples gain for as long") {
  Trial trial;
  REQUIRE(turns(trial, 9, 100e6) == 1);
  CHECK(turns(trial, 199 * 16, 0.5e6) == 0);
  CHECK(turns(trial, 32, 0.5e6) == 1);
  CHECK_FALSE(trial.is_suspended());
}

TEST_CASE("what is not open is never suspended") {
  StagingTrial trial;
  CHECK(turns(trial, 10'000, 100e6) == 0);
}

TEST_CASE("a transfer is held against the driver's, its unmeasured part by the curve of pinned memory") {
  WayCosts costs{};
  CHECK_FALSE(staged_costs(costs, 1000, 5, false));
  costs.standard = flat(700);
  CHECK_FALSE(staged_costs(costs, 1000, 5, true));
  costs.pinned = flat(200);
  const auto whole = staged_costs(costs, 1000, 5, false), copying = staged_costs(costs, 1000, 5, true);
  REQUIRE(whole);
  CHECK(whole->took == 5);
  CHECK(whole->driver == 700);
  REQUIRE(copying);
  CHECK(copying->took == 205);
  const auto fresh = staged_costs(costs, 1000, 5, false, 300);
  REQUIRE(fresh);
  CHECK(fresh->driver == 1000);
}
