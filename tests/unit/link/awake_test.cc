// How a thread knows that it was kept from looking.
#include "transport/link/base/awake.h"

#include <doctest/doctest.h>

namespace gt::wire {
namespace {

constexpr uint64_t Second = 1'000'000'000;

TEST_CASE("who looks in time was never kept from it") {
  Awake awake;
  uint64_t now = 100 * Second;
  for (int i = 0; i < 50; ++i) {
    awake.sleeps(now, 1000);
    now += i % 2 == 0 ? Second : Second / 7;  // it may be woken
    CHECK(awake.since(now) == 0);
  }
  now += 50 * Second;
  CHECK(awake.since(now) == 0);  // nobody said when it would look again
}

TEST_CASE("who looks far too late was stopped until then") {
  Awake awake;
  const uint64_t begun = 100 * Second, woken = begun + 20 * Second;
  awake.sleeps(begun, 1000);
  CHECK(awake.since(woken) == woken);
  awake.sleeps(woken, 1000);
  CHECK(awake.since(woken + Second) == woken);  // that was the last time
  awake.sleeps_until(woken + 3 * Second);
  CHECK(awake.since(woken + 30 * Second) == woken + 30 * Second);
}

}  // namespace
}  // namespace gt::wire
