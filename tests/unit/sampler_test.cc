// Sweeps over sizes with probes whose times are known: what is measured, when it stops, what ends it.
#include "microbench/base/sampler.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <thread>

using namespace gt;
using namespace gt::bench;

namespace {

// A probe that pretends: a turn takes `ns` (a function of the size), and really takes `wait_ns`.
struct Pretender {
  Series series{"q", "w", {}};
  uint64_t size = 0;
  std::map<uint64_t, int> turns;
  std::vector<uint64_t> prepared;
  std::function<double(uint64_t)> ns = [](uint64_t bytes) { return static_cast<double>(bytes); };
  std::function<double(uint64_t)> wait_ns = [](uint64_t) { return 0.0; };
  std::function<Status(uint64_t)> refusal = [](uint64_t) { return Status(); };

  Probe probe() {
    return {[this](uint64_t bytes) {
              prepared.push_back(size = bytes);
              return Status();
            },
            [this] {
              if (Status s = refusal(size); !s.ok()) return s;
              const double end = now_ns() + wait_ns(size);
              while (now_ns() < end) continue;
              series.add(size, ns(size));
              ++turns[size];
              return Status();
            },
            {&series}};
  }
};

const std::vector<uint64_t> Sizes = {64, 256, 1024, 4096};

}  // namespace

TEST_CASE("steady times are known after a few turns, at every size") {
  Pretender p;
  Probe probe = p.probe();
  REQUIRE(sweep({&probe, 1}, Sizes, {10, {}}).ok());
  CHECK(p.prepared == Sizes);
  for (const uint64_t s : Sizes) CHECK(p.turns[s] == 6);
  CHECK(probe.largest == 4096);
  CHECK_FALSE(probe.refused);
}

TEST_CASE("of a driver whose time grows with small sizes, too, nothing is begun that does not fit") {
  Pretender p;
  p.wait_ns = [](uint64_t bytes) { return static_cast<double>(bytes) / 64 * 1e6; };
  Probe probe = p.probe();
  Pace pace;
  pace.budget_s = 0.051;  // after 3 turns of 1 ms and 3 of 4 ms there is time for 3 of 8 ms, not of 16
  pace.goal = {0.02, 3, 3, 3};
  REQUIRE(sweep({&probe, 1}, Sizes, pace).ok());
  CHECK(p.turns[64] == 3);
  CHECK(p.turns[1024] == 0);
}

TEST_CASE("noisy times take more turns, and never more than are allowed") {
  std::mt19937 random(1);
  std::lognormal_distribution<double> noise(0, 1);
  Pretender p;
  p.ns = [&](uint64_t bytes) { return static_cast<double>(bytes) * noise(random); };
  Probe probe = p.probe();
  REQUIRE(sweep({&probe, 1}, {64}, {10, {0.02, 3, 77}}).ok());
  CHECK(p.turns[64] == 77);
}

TEST_CASE("the worst of several probes decides, and all take turns") {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> noise(0.5, 1.5);
  Pretender steady, noisy;
  noisy.ns = [&](uint64_t bytes) { return static_cast<double>(bytes) * noise(random); };
  Probe probes[] = {steady.probe(), noisy.probe()};
  REQUIRE(sweep(probes, {64}, {10, {0.05, 3, 5000}}).ok());
  CHECK(steady.turns[64] == noisy.turns[64]);
  CHECK(steady.turns[64] > 20);
  std::vector<double> times;
  for (const model::Knot& k : noisy.series.samples) times.push_back(k.ns);
  CHECK(model::median_of(times).noise() <= 0.05);
}

TEST_CASE("the time holds: noise at small sizes leaves time for large ones, and what would not fit is left out") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> noise(0.2, 1.8);
  Pretender p;
  p.ns = [&](uint64_t) { return noise(random); };
  p.wait_ns = [](uint64_t bytes) { return static_cast<double>(bytes) / 16; };  // 64 MiB take 4 ms
  Probe probe = p.probe();
  const double start = now_ns();
  std::vector<uint64_t> sizes = sizes_to_measure(false, uint64_t{64} << 30);
  REQUIRE(sweep({&probe, 1}, sizes, {0.3, {0.001, 3, 1 << 20}}).ok());
  const double took = (now_ns() - start) * 1e-9;
  CHECK(took > 0.1);
  CHECK(took < 0.6);  // a busy machine may hold up a turn
  CHECK(probe.largest >= 8 << 20);
  CHECK(probe.largest <= 1 << 30);
  CHECK_FALSE(probe.refused);
  for (const auto& [size, turns] : p.turns) CHECK(turns >= 3);
}

TEST_CASE("a probe that is refused ends there, and the others go on") {
  Pretender limited, other;
  limited.refusal = [](uint64_t bytes) { return bytes > 256 ? Status(Kind::Unsupported, "too large") : Status(); };
  Probe probes[] = {limited.probe(), other.probe()};
  REQUIRE(sweep(probes, Sizes, {10, {}}).ok());
  CHECK(probes[0].refused);
  CHECK(probes[0].largest == 256);
  CHECK(limited.turns.size() == 2);
  CHECK(probes[1].largest == 4096);
  CHECK(other.turns[4096] == 6);
}

TEST_CASE("a probe that is refused from the start has nothing") {
  Pretender p;
  p.refusal = [](uint64_t) { return Status(Kind::Unsupported, "never"); };
  Probe probe = p.probe();
  REQUIRE(sweep({&probe, 1}, Sizes, {10, {}}).ok());
  CHECK(probe.refused);
  CHECK(probe.largest == 0);
  CHECK(p.prepared == std::vector<uint64_t>{64});  // nothing is tried at larger sizes
  CHECK(p.series.samples.empty());
}

TEST_CASE("a failure ends everything and is passed on") {
  Pretender p, other;
  p.refusal = [](uint64_t bytes) { return bytes > 256 ? Status(Kind::OpenCl, "it broke", -5) : Status(); };
  Probe probes[] = {p.probe(), other.probe()};
  const Status s = sweep(probes, Sizes, {10, {}});
  CHECK(s.kind() == Kind::OpenCl);
  CHECK(s.text() == "it broke");
  CHECK(other.turns.count(4096) == 0);
}

TEST_CASE("progress goes from nothing to all") {
  Pretender p;
  Probe probe = p.probe();
  std::vector<double> parts;
  REQUIRE(sweep({&probe, 1}, Sizes, {10, {}, [&](double part) { parts.push_back(part); }}).ok());
  CHECK(parts.front() == 0);
  CHECK(parts.back() == 1);
  CHECK(std::is_sorted(parts.begin(), parts.end()));
}

TEST_CASE("sizes") {
  CHECK(sizes_to_measure(true, 1 << 16) == std::vector<uint64_t>{64, 4096, 16384, 65536});
  CHECK(sizes_to_measure(false, 300) == std::vector<uint64_t>{64, 128, 256});
  CHECK(sizes_to_measure(false, 32).empty());
  CHECK(sizes_to_measure(true, (1 << 20) + (3 << 18)).back() == (1 << 20) + (3 << 18));  // what was asked for, too
}

TEST_CASE("measure: a number that is given, an error that is passed on") {
  int calls = 0;
  const auto steady = measure([&]() -> Result<double> { return ++calls, 5.0; }, {1, {}});
  REQUIRE(steady.ok());
  CHECK(steady->value == 5);
  CHECK(calls == 6);
  CHECK(measure([]() -> Result<double> { return Status(Kind::OpenCl, "no"); }, {1, {}}).status().text() == "no");
}
