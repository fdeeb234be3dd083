// Times of calls: what goes into a timeline comes out; clocks; damage.
#include "traces/model/folded/timeline.h"

#include <doctest/doctest.h>

using namespace gt;
using namespace gt::model;

namespace {

struct Read {
  std::vector<EventTime> events;
  std::vector<CommandTime> commands;
  bool ok = false;
};

Read read(const Bytes& bytes) {
  Read out;
  auto reader = TimelineReader::open(bytes);
  if (!reader) return out;
  EventTime time;
  while (out.events.size() < 100'000 && reader->next(time)) {
    out.events.push_back(time);
    if (auto c = reader->command()) out.commands.push_back(*c);
  }
  out.ok = reader->ok();
  return out;
}

DeviceClock clock_with_offset(int64_t offset) {
  DeviceClock clock;
  clock.add(1000, static_cast<uint64_t>(1100 - offset), static_cast<uint64_t>(1200 - offset), 1300);
  clock.settle();
  return clock;
}

}  // namespace

TEST_CASE("a timeline gives back the time of every call and command") {
  const DeviceClock clock = clock_with_offset(-5'000'000);
  TimelineBuilder builder;
  for (uint64_t i = 0; i < 1000; ++i) {
    builder.add_event(i * 100, i % 7 ? std::optional<uint64_t>(i % 13) : std::nullopt);
    if (i % 3 == 0) builder.expect_command();
  }
  // Two queues: times arrive out of order; one command never gets any.
  for (uint64_t i = 0; i < 1000; i += 6) builder.add_command(i, &clock, i * 100 + 5'000'000 + 10, i + 1);
  for (uint64_t i = 3; i < 999; i += 6) builder.add_command(i, &clock, i * 100 + 5'000'000 + 10, i + 1);
  builder.add_command(1, &clock, 7, 7);  // not expected: ignored

  const Read got = read(builder.encode());
  REQUIRE(got.ok);
  REQUIRE(got.events.size() == 1000);
  CHECK(got.events[14].entry_ns == 1400);
  CHECK(!got.events[14].duration_ns);
  CHECK(*got.events[15].duration_ns == 2);
  REQUIRE(got.commands.size() == 333);  // every third but number 999
  for (size_t k = 0; k < got.commands.size(); ++k) {
    CHECK(got.commands[k].event == 3 * k);
    CHECK(got.commands[k].start_ns == 300 * k + 10);
    CHECK(got.commands[k].length_ns == 3 * k + 1);
  }
}

TEST_CASE("a million regular calls take next to nothing, irregular ones a few bytes each") {
  TimelineBuilder regular, irregular;
  uint64_t random = 1, now = 0;
  for (uint64_t i = 0; i < 200'000; ++i) {
    regular.add_event(i * 1000, 250);
    random = random * 6364136223846793005u + 1442695040888963407u;
    now += 5000 + (random >> 56);
    irregular.add_event(now, 1000 + (random >> 40) % 200);
  }
  CHECK(regular.memory_bytes() < 20'000);
  CHECK(irregular.encode().size() < 4 * 200'000);
  CHECK(irregular.memory_bytes() < 5 * 200'000);
}

TEST_CASE("a device's clock is found from entries and ends, also when it drifts") {
  constexpr int64_t Offset = -1'000'000'000'000;
  CHECK(clock_with_offset(Offset).to_host(1'000'000'001'150) == 1150);
  CHECK(clock_with_offset(Offset).error_ns() <= 101);

  DeviceClock drifting;  // 50 ppm: half a millisecond in ten seconds
  const auto device = [](uint64_t host) { return host + host / 20'000 + 7'000'000; };
  for (uint64_t t = 0; t < 10'000'000'000; t += 10'000'000) {
    drifting.add(t, device(t + 5'000), device(t + 20'000), t + 30'000);
  }
  drifting.settle();
  for (const uint64_t t : {1'000'000'000u, 3'000'000'000u}) {
    const auto error = static_cast<int64_t>(drifting.to_host(device(t))) - static_cast<int64_t>(t);
    CHECK(std::abs(error) < 60'000);
  }
  CHECK(DeviceClock().to_host(5) == 0);
}

TEST_CASE("a damaged timeline ends early, and never runs away") {
  const DeviceClock clock = clock_with_offset(0);
  TimelineBuilder builder;
  for (uint64_t i = 0; i < 300; ++i) {
    builder.add_event(i * i, i);
    builder.expect_command();
    builder.add_command(i, &clock, i * i + 1, i);
  }
  const Bytes good = builder.encode();
  REQUIRE(read(good).ok);
  CHECK(!read({}).ok);
  for (size_t n = 0; n < good.size(); ++n) {
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
    CHECK(!TimelineReader::open(cut));
  }
  for (size_t at = 0; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= 0x55;
    (void)read(bad);  // anything but a crash or an endless loop
  }
  Bytes later = good;
  later[0] = TimelineVersion + 1;
  CHECK(!TimelineReader::open(later));
}
