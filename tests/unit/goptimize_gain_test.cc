// What goptimize is predicted to save: at sites by the cost model with its first touch, by staging, by huge pages; and
// never more than it can reach of the run.
#include "analyzer/transfers/goptimize_gain.h"

#include <doctest/doctest.h>

#include "analyzer/report/run_report.h"
#include "tests/unit/findings_check.h"
#include "traces/model/folded/run_usage.h"

using namespace gt;
using namespace gt::testing;
using analyzer::GoptimizeGain;

namespace {

constexpr uint64_t Ms = 1'000'000;
constexpr int64_t Large = 64 * MiB;

Curve line(double ns_a_byte) { return Curve::make({{1, ns_a_byte}, {1e9, 1e9 * ns_a_byte}}).value(); }

// Ordinary memory costs 1 ns a byte to touch and 0.5 to transfer, pinned memory 0.2 and 0.1, staging 0.2.
Platform measured() {
  Platform p;
  DeviceCosts d;
  d.name = "gpu";
  d.type = DeviceType::Gpu;
  d.policies[static_cast<size_t>(Policy::Standard)] = {line(1), line(0.5), line(0.5), 0, 0};
  d.policies[static_cast<size_t>(Policy::Pin)] = {line(0.2), line(0.1), line(0.1), 0, 0};
  d.staged = StagedCosts{line(0.2), line(0.2), 2, 1 << 20};
  p.devices.push_back(d);
  return p;
}

GoptimizeGain gain_of(const Trace& t, const Platform* platform) {
  analyzer::CallSites sites;
  const auto ratio = analyzer::find_dispatch_ratio(t, 0.1, sites);
  const auto sources = analyzer::find_transfer_sources(t, sites).list;
  return analyzer::predict_gain(t, ratio, analyzer::find_run_parts(t, platform), sources, platform, sites);
}

// A result of 64 MiB, received once into memory that was just allocated.
struct OneResult : RuleTrace {
  Object b, host;
  OneResult() {
    at_place(0x2000);
    b = buffer(Large);
    at_place(0x3000);
    host = allocate(Large);
    at_place(0x4000);
    read(b, host, Large, {.device_ns = 100 * Ms});
  }
};

Trace with_faults(Trace t, uint64_t faults) {
  add_run_facts(t, {1000 * Ms, 0, 0, faults, 0}, {1000, 100'000});
  return t;
}

double of(int64_t bytes) { return static_cast<double>(bytes) * 1e-9; }

}  // namespace

TEST_CASE("one transfer into fresh memory pays for its pages, which a pool does not") {
  OneResult p;
  const Platform platform = measured();
  const GoptimizeGain gain = gain_of(with_faults(p.finish_trace(900 * Ms), 20'000), &platform);
  CHECK(gain.sites_s == about(of(Large) * (1.5 - 0.3)));
  CHECK(gain.staging_s == 0);
  CHECK(gain.pages_s == 0);  // the pool has them
  CHECK(gain.saved_s == gain.sites_s);
}

TEST_CASE("the finding says so, of one transfer only where it was measured") {
  OneResult p;
  const Trace t = with_faults(p.finish_trace(900 * Ms), 20'000);
  const Platform platform = measured();
  const auto rules = [&](const Platform* measured_here) {
    analyzer::CallSites sites;
    const auto ratio = analyzer::find_dispatch_ratio(t, 0.1, sites);
    const auto sources = analyzer::find_transfer_sources(t, sites).list;
    return analyzer::find_all(t, ratio, analyzer::find_run_parts(t, measured_here), sources, {}, recorded_effects(t),
                              measured_here, sites).findings;
  };
  CHECK(rules(nullptr).empty());
  const auto found = rules(&platform);
  REQUIRE(found.size() == 1);
  CHECK(found[0].rule == "pageable-transfers");
  CHECK(seconds(found[0]) == about(of(Large) * 1.2));
}

TEST_CASE("never more than what goptimize can reach of the run") {
  OneResult p;
  Trace t = p.finish_trace(900 * Ms);
  t.stats.back().device_ns = t.stats.back().host_ns = {};
  for (Stats* s : {&t.stats.back().device_ns, &t.stats.back().host_ns}) s->add(10 * Ms);
  const Platform platform = measured();
  const GoptimizeGain gain = gain_of(with_faults(std::move(t), 5000), &platform);
  CHECK(gain.sites_s == about(of(Large) * 1.2));
  CHECK(gain.saved_s == doctest::Approx(0.015));
}

TEST_CASE("without a platform file huge pages alone, as far as there are faults") {
  OneResult few, many;
  const double each = 1000 - 100'000 / 512.0;
  const GoptimizeGain all = gain_of(with_faults(many.finish_trace(900 * Ms), 20'000), nullptr);
  CHECK(all.sites_s == 0);
  CHECK(all.pages_s == about(Large / 4096 * each * 1e-9));
  CHECK(gain_of(with_faults(few.finish_trace(900 * Ms), 1000), nullptr).pages_s == about(1000 * each * 1e-9));
}

TEST_CASE("no huge pages where the system gives none, or for small blocks") {
  OneResult none;
  Trace t = none.finish_trace(900 * Ms);
  add_run_facts(t, {1000 * Ms, 0, 0, 20'000, 0}, {1000, std::nullopt});
  CHECK(gain_of(t, nullptr).saved_s == 0);

  RuleTrace small;
  const Object b = small.buffer(4 * MiB);
  small.at_place(0x3000);
  for (int i = 0; i < 10; ++i) {
    const Object host = small.allocate(4 * MiB);
    small.read(b, host, 4 * MiB, {.device_ns = 10 * Ms});
    small.free(host);
  }
  CHECK(gain_of(with_faults(small.finish_trace(900 * Ms), 20'000), nullptr).saved_s == 0);
}

TEST_CASE("memory that has no site is staged, but not for a device in the host's memory") {
  RuleTrace p;
  const Object b = p.buffer(Large);
  p.at_place(0x3000);
  const Object stack = p.make(ObjectKind::Stack, api::FnId::clFlush, {});
  p.write(b, stack, Large, {.device_ns = 100 * Ms});
  const Trace t = p.finish_trace(900 * Ms);
  Platform platform = measured();
  CHECK(gain_of(t, &platform).staging_s == about(of(Large) * 0.3));
  platform.devices[0].host_unified = true;
  CHECK(gain_of(t, &platform).staging_s == 0);
}

TEST_CASE("nothing where the kernels decide") {
  OneResult p;
  p.launch(p.kernel(), {{p.b, Effect::UseDef}}, 100'000 * Ms);
  const Platform platform = measured();
  const GoptimizeGain gain = gain_of(p.finish_trace(), &platform);
  CHECK(gain.saved_s == 0);
  CHECK_FALSE(gain.basis.empty());
}

TEST_CASE("the sentence names the parts that there are") {
  analyzer::RunParts run;
  run.whole_ns = 1000 * Ms;
  const std::string text = analyzer::gain_text({0.1, 0, 0.02, 0.12, "by the measured costs of this machine"}, run);
  CHECK(text == "That is predicted to save 120 ms of 1.00 s (100 ms at allocation sites, 20 ms by huge pages), by the "
                "measured costs of this machine.");
}
