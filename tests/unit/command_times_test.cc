// Sampling: which commands are timed, and what the timed ones stand for.
#include <doctest/doctest.h>

#include <vector>

#include "tracer/collect/command_times.h"
#include "tracer/collect/timing.h"
#include "tracer/lib/sampling.h"

using namespace gt;
using namespace gt::tracer;

namespace {

// Of n commands that take ns(i) each: what sampling says that they took together, and how many it timed.
struct Estimate {
  uint64_t timed = 0;
  double sum = 0, truth = 0;
};
template <class Ns>
Estimate estimate(int n, uint32_t fixed, Ns ns) {
  SiteSample sample;
  sample.begin(12345);
  CommandTimes times;
  std::vector<model::ShapeStats> stats(1);
  const CommandTimes::Command command{0, 0, true, model::Direction::None};
  Estimate e;
  uint64_t clock = 1000;
  for (int i = 0; i < n; ++i) {
    const uint64_t took = ns(i);
    e.truth += static_cast<double>(took);
    if (sample.due(fixed)) {
      sample.learn(took);
      times.expect(static_cast<uint64_t>(i), command);
      times.take(static_cast<uint64_t>(i), clock, clock + took, stats);
    } else {
      times.skip(command);
    }
    clock += took + 10;
  }
  const model::DeviceTime device = times.times(stats).devices.at(0);
  times.complete(stats);
  CHECK(stats[0].device_ns.count == static_cast<uint64_t>(n));
  CHECK(device.commands() == static_cast<uint64_t>(n));
  CHECK(device.kernels == stats[0].timed);
  CHECK(device.untimed_kernels == 0);
  e.timed = stats[0].timed;
  e.sum = static_cast<double>(stats[0].device_ns.sum);
  CHECK(static_cast<double>(device.kernel_ns) == doctest::Approx(e.sum).epsilon(0.001));
  return e;
}

}  // namespace

TEST_CASE("a site is learnt, then sampled ever more thinly") {
  for (const int n : {1, 10, 64}) CHECK(estimate(n, 0, [](int) { return 5000; }).timed == static_cast<uint64_t>(n));
  const Estimate some = estimate(1000, 0, [](int) { return 5000; });
  const Estimate many = estimate(100'000, 0, [](int) { return 5000; });
  CHECK(some.timed > 100);
  CHECK(some.timed < 220);
  CHECK(many.timed > 1500);
  CHECK(many.timed < 2600);
  CHECK(many.sum == many.truth);
}

TEST_CASE("long commands are always timed") {
  CHECK(estimate(5000, 0, [](int) { return 2'000'000; }).timed == 5000);
  const Estimate mixed = estimate(5000, 0, [](int) { return 100'000; });  // timing costs a tenth of them: 1 in 20
  CHECK(mixed.timed > 200);
  CHECK(mixed.timed < 600);
}

TEST_CASE("periods do not fool the sample") {
  for (const int period : {2, 3, 8, 16, 64}) {
    const Estimate e = estimate(100'000, 0, [&](int i) { return i % period == 0 ? 50'000 : 5000; });
    CHECK(e.sum == doctest::Approx(e.truth).epsilon(0.15));
  }
  const Estimate fixed = estimate(100'000, 16, [](int i) { return i % 16 == 0 ? 50'000 : 5000; });
  CHECK(fixed.sum == doctest::Approx(fixed.truth).epsilon(0.1));
  CHECK(fixed.timed > 5000);
  CHECK(fixed.timed < 7500);
}

TEST_CASE("one in one is all") { CHECK(estimate(1000, 1, [](int) { return 5; }).timed == 1000); }

TEST_CASE("a warm-up that takes longer keeps its own weight") {
  const Estimate e = estimate(20'000, 0, [](int i) { return i < 64 ? 900'000 : 4000; });
  CHECK(e.sum == doctest::Approx(e.truth).epsilon(0.05));
}

TEST_CASE("commands without times are stood for by others of their shape, or by nothing") {
  CommandTimes times;
  std::vector<model::ShapeStats> stats(2);
  const CommandTimes::Command write{0, 0, false, model::Direction::HostToDevice}, kernel{1, 0, true};
  times.expect(1, write);
  times.expect(2, write);  // its times never come
  times.expect(3, write);  // the driver has none
  times.skip(kernel);
  times.take(1, 100, 150, stats);
  times.take(3, 0, 0, stats);
  times.take(99, 1, 2, stats);
  const model::DeviceTime device = times.times(stats).devices.at(0);
  CHECK(device.transfers == 1);
  CHECK(device.estimated_transfers == 2);
  CHECK(device.untimed_kernels == 1);
  CHECK(device.transfer_ns == 150);
  CHECK(device.h2d_ns == 150);
  CHECK(device.kernel_ns == 0);
  times.complete(stats);
  CHECK(stats[0].device_ns.count == 3);
  CHECK(stats[0].timed == 1);
  CHECK(stats[0].insane == 0);
  CHECK(stats[1].device_ns.count == 0);
}

TEST_CASE("senseless times are counted and left out") {
  CommandTimes times;
  std::vector<model::ShapeStats> stats(1);
  times.expect(1, {0, 0, true, model::Direction::None});
  times.take(1, 200, 100, stats);
  CHECK(stats[0].insane == 1);
  CHECK(times.times(stats).devices.at(0).untimed_kernels == 1);
}

TEST_CASE("--timing is read and written") {
  for (const char* text : {"auto", "all", "off", "kernels", "transfers", "sample:7", "sample:1000000"}) {
    const auto choice = parse_timing(text);
    REQUIRE(choice);
    CHECK(timing_text(*choice) == text);
  }
  CHECK(timing_text(*parse_timing("sample:1")) == "all");
  for (const char* text : {"", "some", "sample", "sample:", "sample:0", "sample:-1", "sample:2x", "sample:1000001"})
    CHECK_FALSE(parse_timing(text));
}
