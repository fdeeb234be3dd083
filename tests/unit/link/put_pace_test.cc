// What a link takes for a byte, however far away the other end is.
#include "transport/link/base/put_pace.h"

#include <doctest/doctest.h>

namespace gt::wire {
namespace {

constexpr uint64_t MiB = uint64_t{1} << 20, Part = MiB / 4;
constexpr double Far_ns = 10e6;

// A put that is sent at once, whose parts a path takes `byte_ns` a byte for, and the acknowledgements `delay_ns`.
void put(PutPace& pace, Ticket ticket, uint64_t bytes, double byte_ns, double delay_ns) {
  for (uint64_t arrived = Part; arrived <= bytes; arrived += Part)
    pace.acknowledged(ticket, Part, static_cast<uint64_t>(1e9 + delay_ns + static_cast<double>(arrived) * byte_ns));
}

double byte_ns(const std::optional<Pace>& pace) {
  REQUIRE(pace);
  return static_cast<double>(pace->ns) / static_cast<double>(pace->bytes);
}

TEST_CASE("a delay does not count") {
  for (const double delay : {0.0, 0.2e6, Far_ns})
    for (const double ns : {0.2, 0.8, 8.0, 80.0})
      for (const uint64_t bytes : {MiB, 4 * MiB}) {
        PutPace pace;
        put(pace, 7, bytes, ns, delay);
        CHECK(byte_ns(pace.pace(7)) == doctest::Approx(ns).epsilon(0.01));
        CHECK(pace.pace(7)->bytes >= bytes / 4);
        CHECK(pace.pace(7)->bytes < bytes);
        CHECK(pace.arrived(7) == bytes);
      }
}

TEST_CASE("the faster half counts, and nothing does where the other one took far longer") {
  const auto paced = [](uint64_t pause_at, uint64_t pause_ns) {
    PutPace pace;
    uint64_t now = 1'000'000;
    for (uint64_t part = 0; part < 16; ++part) {
      now += 100'000 + (part == pause_at ? pause_ns : 0);
      pace.acknowledged(3, Part, now);
    }
    return pace.pace(3);
  };
  for (const uint64_t at : {3, 12}) {
    CHECK(byte_ns(paced(at, 500'000)) == doctest::Approx(1e5 / Part));
    CHECK_FALSE(paced(at, 30'000'000));
  }
  CHECK(byte_ns(paced(0, 30'000'000)) == doctest::Approx(1e5 / Part));  // that is the delay
}

TEST_CASE("what is acknowledged together says nothing") {
  PutPace pace;
  CHECK_FALSE(pace.pace(1));
  pace.acknowledged(1, Part, 1000);
  CHECK_FALSE(pace.pace(1));
  pace.acknowledged(1, Part, 1000);
  pace.acknowledged(1, 2 * Part, 1000);
  CHECK_FALSE(pace.pace(1));
  CHECK(pace.arrived(1) == MiB);
}

TEST_CASE("halves are of bytes, whatever is acknowledged together") {
  // A burst that passes at once, in small parts; then the line's own pace.
  PutPace burst;
  uint64_t now = 1'000'000;
  for (int i = 0; i < 4; ++i) burst.acknowledged(1, Part / 16, now += 1000);
  for (int i = 0; i < 6; ++i) burst.acknowledged(1, MiB, now += 80'000'000);
  CHECK(byte_ns(burst.pace(1)) == doctest::Approx(80e6 / MiB).epsilon(0.03));
  CHECK(burst.pace(1)->bytes >= 2 * MiB);
  // All but little at once: there are no halves.
  PutPace lump;
  lump.acknowledged(1, Part, 1000);
  lump.acknowledged(1, 8 * MiB, 64'001'000);
  lump.acknowledged(1, Part / 4, 64'002'000);
  CHECK(lump.pace(1)->bytes == 8 * MiB + Part / 4);
}

TEST_CASE("of the last two puts it is known") {
  PutPace pace;
  put(pace, 1, MiB, 8, Far_ns);
  put(pace, 2, MiB, 4, Far_ns);
  CHECK(byte_ns(pace.pace(1)) == doctest::Approx(8));
  CHECK(byte_ns(pace.pace(2)) == doctest::Approx(4));
  put(pace, 9, MiB, 2, Far_ns);
  CHECK_FALSE(pace.pace(1));
  CHECK(pace.arrived(1) == 0);
  CHECK(byte_ns(pace.pace(2)) == doctest::Approx(4));
  CHECK_FALSE(pace.pace(8));
}

}  // namespace
}  // namespace gt::wire
