// Unions of intervals, and what devices, queues and contexts were busy with.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "tracer/collect/command_times.h"
#include "tracer/collect/interval_union.h"
#include "tracer/collect/timed_objects.h"

using namespace gt;
using namespace gt::tracer;

namespace {

constexpr auto ToDevice = model::Direction::HostToDevice;

// Each nanosecond by itself.
class Naive {
 public:
  void add(uint64_t begin, uint64_t end) { std::fill(on_.begin() + long(begin), on_.begin() + long(end), true); }
  uint64_t length() const { return static_cast<uint64_t>(std::count(on_.begin(), on_.end(), true)); }

 private:
  std::vector<bool> on_ = std::vector<bool>(4000);
};

struct Recorder {
  CommandTimes times;
  std::vector<model::ShapeStats> stats = std::vector<model::ShapeStats>(8);
  uint64_t key = 0;

  void ran(const CommandTimes::Command& command, uint64_t start, uint64_t end) {
    times.expect(++key, command);
    CHECK(times.take(key, start, end, stats));
  }
};

}  // namespace

TEST_CASE("a union is what each nanosecond says") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    IntervalUnion fast;
    Naive slow;
    const uint32_t reach = round % 2 ? 40 : 3000;  // nearly in order, or in none
    uint64_t clock = 0;
    for (int i = 0; i < 60; ++i) {
      clock = std::min<uint64_t>(clock + random() % 30, 900);
      const uint64_t begin = clock + random() % reach, end = std::min<uint64_t>(begin + random() % 50, 4000);
      if (begin > end) continue;
      fast.add(begin, end);
      slow.add(begin, end);
    }
    CHECK(fast.length() == slow.length());
  }
}

TEST_CASE("a union of very many intervals stays exact when they come in order") {
  IntervalUnion u;
  for (uint64_t i = 0; i < 100'000; ++i) u.add(10 * i, 10 * i + 3);
  CHECK(u.length() == 300'000);
}

TEST_CASE("queues overlap, and their context and device count that once") {
  Recorder r;
  const CommandTimes::Command launch{0, 0, true, model::Direction::None, 0, 2}, write{1, 0, false, ToDevice, 1, 2};
  for (uint64_t i = 1; i <= 10; ++i) {
    r.ran(launch, 1000 * i, 1000 * i + 600);
    r.ran(write, 1000 * i + 500, 1000 * i + 700);
  }
  const auto times = r.times.times(r.stats);
  REQUIRE(times.devices.size() == 1);
  REQUIRE(times.objects.size() == 3);
  CHECK(times.objects[0].kernel_ns == 6000);
  CHECK(times.objects[0].transfer_ns == 0);
  CHECK(times.objects[1].transfer_ns == 2000);
  CHECK(times.objects[1].overlap_ns == 0);
  for (const model::DeviceTime& both : {times.objects[2], times.devices[0]}) {
    CHECK(both.kernel_ns == 6000);
    CHECK(both.transfer_ns == 2000);
    CHECK(both.h2d_ns == 2000);
    CHECK(both.overlap_ns == 1000);
    CHECK(both.kernels == 10);
  }
}

TEST_CASE("the steady state is all but the first command of each shape") {
  Recorder r;
  r.ran({0, 0, true}, 1000, 9000);  // warm-up
  for (uint64_t i = 0; i < 5; ++i) r.ran({0, 0, true}, 10'000 + 100 * i, 10'050 + 100 * i);
  r.ran({1, 0, false, ToDevice}, 20'000, 20'700);  // once
  const model::DeviceTime device = r.times.times(r.stats).devices[0];
  CHECK(device.kernel_ns == 8000 + 5 * 50);
  CHECK(device.steady_kernel_ns == 5 * 50);
  CHECK(device.transfer_ns == 700);
  CHECK(device.steady_transfer_ns == 0);
  CHECK(r.stats[0].first_device_ns == 8000);
}

TEST_CASE("sampled commands stand for others in the steady state too") {
  Recorder r;
  const CommandTimes::Command launch{0, 0, true, model::Direction::None, 0};
  r.ran(launch, 1000, 1500);
  for (uint64_t i = 0; i < 10; ++i) {
    for (int k = 0; k < 4; ++k) r.times.skip(launch);
    r.ran(launch, 10'000 * (i + 1), 10'000 * (i + 1) + 100);
  }
  r.times.skip(launch);
  const auto times = r.times.times(r.stats);
  for (const model::DeviceTime& t : {times.devices[0], times.objects[0]}) {
    CHECK(t.kernels == 11);
    CHECK(t.estimated_kernels == 41);
    CHECK(double(t.steady_kernel_ns) == doctest::Approx(5000 + 100).epsilon(0.02));
    CHECK(double(t.kernel_ns) == doctest::Approx(5500 + 100).epsilon(0.02));
  }
}

TEST_CASE("what a command buffer runs is untimed for its queue as well") {
  CommandTimes times;
  times.leave_untimed({0, 0, false, model::Direction::None, 1, 0}, 3, 2);
  const auto all = times.times({});
  for (const model::DeviceTime& t : {all.devices[0], all.objects[0], all.objects[1]}) {
    CHECK(t.untimed_kernels == 3);
    CHECK(t.untimed_transfers == 2);
  }
}

TEST_CASE("objects have numbers by name and device, up to a limit") {
  TimedObjects objects;
  CHECK(objects.index_of({5, 0}, 0) == 0);
  CHECK(objects.index_of({5, 0}, 1) == 1);
  CHECK(objects.index_of({5, 0}, 0) == 0);
  for (uint32_t slot = 1; slot < 1000; ++slot) objects.index_of({5, slot}, 0);
  CHECK(objects.objects().size() == TimedObjects::Most);
  CHECK(objects.index_of({5, 999}, 0) == model::NoIndex);
  CHECK(objects.left_out() > 0);
}
