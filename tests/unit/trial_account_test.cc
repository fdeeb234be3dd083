// Whether a site keeps its policy: when it loses it, when it gets it back, what it may cost whoever plays against it.
#include "optimizer-rt/pool/trial_account.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

using namespace gt::opt;

namespace {

constexpr double Margin = 1'000'000;  // ns
using Turn = TrialAccount::Turn;

// A site whose blocks cost `cost` each and save `saving` each (more than one transfer for some): counts what happens.
struct Run {
  TrialAccount account;
  double net = 0;
  int served = 0, suspensions = 0, resumptions = 0;

  explicit Run(double margin = Margin) { account.open(static_cast<uint64_t>(margin)); }
  void book(double ns) {
    net += ns;
    const Turn turn = account.book(ns);
    suspensions += turn == Turn::Suspended;
    resumptions += turn == Turn::Resumed;
  }
  void allocate(double cost, double saving, int times = 1) {
    for (int i = 0; i < times; ++i) {
      if (!account.takes_next()) continue;
      ++served;
      book(-cost);
      if (saving != 0) book(saving);
    }
  }
};

}  // namespace

TEST_CASE("a site that saves more than it costs is never suspended") {
  Run run;
  run.allocate(150, 200, 1'000'000);
  CHECK(run.served == 1'000'000);
  CHECK(run.suspensions == 0);
}

TEST_CASE("a site that is never transferred is served until the margin is lost, then in samples only") {
  Run run;
  run.allocate(100, 0, 10'000'000);
  CHECK(run.suspensions == 1);
  CHECK(run.resumptions == 0);
  CHECK(run.net < -Margin);
  CHECK(run.net > -1.5 * Margin - 100 * 10'000'000 / TrialAccount::LongestInterval - 1000);
}

TEST_CASE("what was saved counts for one margin at most") {
  Run run;
  run.allocate(0, 1000, 1'000'000);
  const double before = run.net;
  run.allocate(100, 0, 100'000);
  CHECK(run.suspensions == 1);
  CHECK(before - run.net < 2.6 * Margin);
}

TEST_CASE("a suspended site comes back when its samples gain, and only then") {
  Run run;
  run.allocate(100, 0, 20'000);
  CHECK(run.account.is_suspended());
  run.allocate(100, 99, 100'000);
  CHECK(run.account.is_suspended());
  run.allocate(100, 5000, 100'000);
  CHECK(run.resumptions == 1);
  CHECK_FALSE(run.account.is_suspended());
  CHECK(run.served > 50'000);
}

TEST_CASE("the gain of old blocks brings a site back, too") {
  Run run;
  run.allocate(100, 0, 20'000);  // a phase that only allocates
  REQUIRE(run.account.is_suspended());
  for (int i = 0; i < 3000; ++i) run.book(1000);
  CHECK(run.resumptions == 1);
}

TEST_CASE("one large loss suspends at once") {
  Run run;
  run.book(-Margin);
  CHECK(run.suspensions == 0);
  run.book(-1);
  CHECK(run.suspensions == 1);
}

TEST_CASE("what somebody demands is never suspended") {
  Run run(0);
  run.allocate(1e9, 0, 1000);
  CHECK(run.served == 1000);
  CHECK(run.account.affords(1e15));
}

TEST_CASE("a pin waits until the margin, the savings and what it would have saved make up for it") {
  TrialAccount account;
  account.open(static_cast<uint64_t>(Margin));
  CHECK(account.affords(Margin));
  CHECK_FALSE(account.affords(Margin + 1));
  account.owe(500'000);
  CHECK(account.affords(1.5 * Margin));
  CHECK_FALSE(account.affords(1.5 * Margin + 1));
  account.owe(-1e9);  // a transfer that is faster unpinned owes nothing
  CHECK(account.affords(1.5 * Margin));
  account.book(-500'000);
  CHECK_FALSE(account.affords(1.5 * Margin));
}

TEST_CASE("numbers that are none change nothing much") {
  Run run;
  run.account.book(std::numeric_limits<double>::quiet_NaN());
  run.account.book(std::numeric_limits<double>::infinity());
  CHECK_FALSE(run.account.is_suspended());
  for (int i = 0; i < 20000; ++i) run.account.book(1e300);
  CHECK(run.account.book(-1e300) == Turn::Suspended);
}

TEST_CASE("nobody can make a site lose more than the bound, whatever the order of gains and losses") {
  std::mt19937 random(7);
  for (int game = 0; game < 200; ++game) {
    Run run;
    double largest = 0;
    double worst = 0;
    int allocations = 0, turns = 0;
    for (int phase = 0; phase < 40; ++phase) {
      const auto cost = static_cast<double>(random() % 2000);
      const double saving = random() % 2 ? 0 : static_cast<double>(random() % 4000);
      const int times = static_cast<int>(random() % 20000);
      largest = std::max({largest, cost, saving});
      allocations += times;
      run.allocate(cost, saving, times);
      worst = std::min(worst, run.net);
      turns = run.suspensions + run.resumptions;
    }
    const double samples = 2000.0 * allocations / TrialAccount::LongestInterval;
    CHECK(worst > -1.5 * Margin - samples - (turns + 10) * largest);
  }
}
