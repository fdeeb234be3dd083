// What happened between two snapshots.
#include "tracer/gtrace/stats/rates.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/sample_trace.h"
#include "tracer/gtrace/stats/rates_text.h"
#include "tracer/gtrace/stats/summary.h"

using namespace gt;
using namespace gt::tracer;
using gt::model::Direction;

namespace {

const Rates Earlier{10,
                    4,
                    {{Direction::HostToDevice, 2, 2000, 50, true}},
                    {{"a", 2, 2, 100}, {"idle", 3, 3, 30}},
                    {{"clFinish", "app+0x1", 5, 0, 500, 0}}};
const Rates Later{31,
                  4,
                  {{Direction::HostToDevice, 5, 5000, 90, true}, {Direction::DeviceToHost, 1, 8, 3, false}},
                  {{"a", 12, 4, 300}, {"idle", 3, 3, 30}, {"new", 1, 0, 0}},
                  {{"clFinish", "app+0x1", 6, 0, 700, 0}, {"clFinish", "app+0x2", 1, 0, 900, 0}}};

}  // namespace

TEST_CASE("rates are what the later has more; what did nothing is left out") {
  const Rates r = between(Earlier, Later);
  CHECK(r.calls == 21);
  CHECK(r.memory_calls == 0);
  REQUIRE(r.transfers.size() == 2);
  CHECK(r.transfers[0].direction == Direction::HostToDevice);
  CHECK(r.transfers[0].count == 3);
  CHECK(r.transfers[0].bytes == 3000);
  CHECK(r.transfers[0].ns == 40);
  CHECK(r.transfers[1].bytes == 8);
  REQUIRE(r.kernels.size() == 2);
  CHECK(r.kernels[0].name == "a");
  CHECK(r.kernels[0].launches == 10);
  CHECK(r.kernels[0].device_ns == 1000);  // two of ten were timed, 200 ns in all
  CHECK(r.kernels[1].name == "new");
  REQUIRE(r.places.size() == 2);
  CHECK(r.places[0].site == "app+0x2");  // the most time first
  CHECK(r.places[1].calls == 1);
  CHECK(r.places[1].host_ns == 200);
}

TEST_CASE("a later snapshot that has less gives nothing, not very much") {
  const Rates r = between(Later, Earlier);
  CHECK(r.calls == 0);
  CHECK(r.transfers.empty());
  CHECK(r.kernels.empty());
  CHECK(r.places.empty());
}

TEST_CASE("the sums of a trace are those of gtrace stats") {
  const model::Trace trace = testing::paper_loop(100);
  const Summary s = summarize(trace);
  const Rates r = between(Rates(), sums_of(trace));
  CHECK(r.calls == s.calls);
  CHECK(r.memory_calls == s.memory_calls);
  uint64_t bytes = 0, moved = 0, launches = 0, launched = 0, calls = 0;
  for (const TransferSum& t : s.transfers) bytes += t.bytes;
  for (const MovedSum& m : r.transfers) moved += m.bytes;
  for (const KernelSum& k : s.kernels) launches += k.launches;
  for (const LaunchedSum& k : r.kernels) launched += k.launches;
  for (const PlaceSum& p : r.places) calls += p.calls;
  CHECK(moved == bytes);
  CHECK(launched == launches);
  CHECK(calls == s.calls);
}

TEST_CASE("one JSON object, whatever names hold") {
  RatesShown shown{between(Earlier, Later), 31, 0.5, false};
  shown.rates.kernels[0].name = "\"\n\xff";
  const std::string text = rates_json(shown, 1);
  CHECK(text.find('\n') == text.npos);
  const auto json = nlohmann::json::parse(text);
  CHECK(json["version"] == 1);
  CHECK(json["calls_per_s"] == 42);
  CHECK(json["kernels"].size() == 1);
  CHECK(json["places"].size() == 1);
  CHECK(json["transfers"].size() == 2);
  CHECK(json["transfers"][0]["gb_per_s"].get<double>() == doctest::Approx(6e-6));
  CHECK(json["ended"] == false);
}
