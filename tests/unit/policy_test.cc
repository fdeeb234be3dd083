// The optimizer's choice from curves and profile, and the plan that carries it into the program.
#include "optimizer-rt/pool/policy.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <random>

#include "optimizer-rt/goptimize/inputs.h"
#include "optimizer-rt/goptimize/report.h"
#include "optimizer-rt/goptimize/session.h"
#include "optimizer-rt/pool/plan.h"

using namespace gt;
using namespace gt::opt;
using model::Curve;
using model::DeviceCosts;
using model::Policy;
using model::PolicyCosts;

namespace {

constexpr double MiB = 1 << 20;

// Costs in proportion to the size: `gbps` for transfers, `touch` for allocation, after a constant
// of 5 us.
Curve line(double gbps) {
  return Curve::make({{64, 5000}, {65536, 5000 + 65536 / gbps}, {1e9, 5000 + 1e9 / gbps}}).value();
}

PolicyCosts costs(double touch_gbps, double transfer_gbps) {
  PolicyCosts c;
  c.allocation = line(touch_gbps);
  c.h2d = c.d2h = line(transfer_gbps);
  return c;
}

DeviceCosts device(const char* name, double standard, double pinned) {
  DeviceCosts d;
  d.name = name;
  d.policies[static_cast<size_t>(Policy::Standard)] = costs(3, standard);
  d.policies[static_cast<size_t>(Policy::Pin)] = costs(3, pinned);
  return d;
}

model::ProfileSite site(double bytes, uint64_t allocations, double transfers_each) {
  model::ProfileSite s;
  s.module = "app";
  s.offset = 0x1234;
  s.min_bytes = s.max_bytes = static_cast<uint64_t>(bytes);
  s.allocations = allocations;
  s.transfers_each = transfers_each;
  s.h2d_bytes = static_cast<uint64_t>(bytes * transfers_each * static_cast<double>(allocations));
  return s;
}

model::Profile profile(std::vector<model::ProfileSite> sites) {
  model::Profile p;
  p.eligible = true;
  p.sites = std::move(sites);
  return p;
}

model::Platform platform(std::vector<DeviceCosts> devices) {
  model::Platform p;
  p.devices = std::move(devices);
  return p;
}

}  // namespace

TEST_CASE("large, often transferred memory is pinned where that is faster") {
  const Decision d =
      decide(platform({device("gpu", 11, 54)}), profile({site(128 * MiB, 2, 20)}), {});
  CHECK(d.sites[0].policy == Policy::Pin);
  CHECK(d.sites[0].pin_on == 1);
  CHECK(d.worth_it);
  // 40 transfers of 128 MiB at 54 in place of 11 GB/s.
  CHECK(d.saved_s == doctest::Approx(40 * 128 * MiB * (1 / 11e9 - 1 / 54e9)).epsilon(0.05));
}

TEST_CASE("where nothing is better by five percent, everything stays") {
  const Decision d =
      decide(platform({device("cpu", 10, 10.3)}), profile({site(128 * MiB, 2, 20)}), {});
  CHECK(d.sites[0].policy == Policy::Standard);
  CHECK_FALSE(d.worth_it);
  CHECK(d.sites[0].why == "no policy beats the standard one here");
}

TEST_CASE("a gain within the noise is none") {
  DeviceCosts noisy = device("cpu", 10, 12);
  noisy.policies[static_cast<size_t>(Policy::Pin)]->noise = 0.3;
  CHECK_FALSE(decide(platform({noisy}), profile({site(128 * MiB, 2, 20)}), {}).worth_it);
  CHECK(decide(platform({device("cpu", 10, 12)}), profile({site(128 * MiB, 2, 20)}), {}).worth_it);
}

TEST_CASE("a gain too small to pay for the start is none") {
  const Decision d = decide(platform({device("gpu", 11, 54)}), profile({site(64 << 10, 1, 2)}), {});
  CHECK_FALSE(d.worth_it);
}

TEST_CASE("memory that is never transferred is left alone") {
  const Decision d =
      decide(platform({device("gpu", 11, 54)}), profile({site(128 * MiB, 2, 0)}), {});
  CHECK(d.sites[0].policy == Policy::Standard);
}

TEST_CASE("a policy that refuses the size is not taken") {
  DeviceCosts gpu = device("gpu", 11, 54);
  gpu.policies[static_cast<size_t>(Policy::Pin)]->max_bytes = 1 << 20;
  CHECK_FALSE(decide(platform({gpu}), profile({site(128 * MiB, 2, 20)}), {}).worth_it);
}

TEST_CASE("with several devices the one that gains decides, and only there is pinned") {
  const Decision d = decide(platform({device("cpu", 10, 10), device("gpu", 11, 54)}),
                            profile({site(128 * MiB, 2, 20)}), {});
  CHECK(d.sites[0].policy == Policy::Pin);
  CHECK(d.sites[0].pin_on == 2);
}

TEST_CASE("the profile's own policy and a forced one come before the model") {
  model::ProfileSite s = site(4096, 1, 0);
  s.policy = "locked";
  CHECK(decide(platform({device("cpu", 10, 10)}), profile({s}), {}).sites[0].policy ==
        Policy::Locked);
  CHECK(decide(platform({}), profile({s}), Policy::OpenCl).sites[0].policy == Policy::OpenCl);
  CHECK(decide(platform({}), profile({s}), Policy::OpenCl).worth_it);
  s.policy = "staged";
  CHECK_FALSE(decide(platform({device("gpu", 11, 54)}), profile({s}), {}).worth_it);
}

TEST_CASE("nothing is staged for devices whose memory is the host's") {
  model::Platform platform;
  platform.devices.resize(4);
  for (model::DeviceCosts& d : platform.devices) d.staged.emplace();
  platform.devices[0].type = model::DeviceType::Cpu;
  platform.devices[1].host_unified = true;
  platform.devices[2].host_unified = false;  // and of [3] nothing is known
  leave_shared_memory_alone(platform);
  const bool staged[] = {false, false, true, true};
  for (size_t i = 0; i < 4; ++i) CHECK(platform.devices[i].staged.has_value() == staged[i]);
}

TEST_CASE("executors of this node use what feeds transfers in place; other sites stay as they are") {
  model::ProfileSite own = site(128 * MiB, 2, 20);
  own.policy = "standard";
  const model::Profile p = profile({site(128 * MiB, 2, 20), site(4096, 100, 0), own});
  const model::Platform cpu = platform({device("cpu", 10, 10)});
  Decision d = leave_all(decide(cpu, p, {}));
  CHECK_FALSE(d.worth_it);
  serve_executors(d, p);
  CHECK(d.worth_it);
  CHECK(d.sites[0].policy == Policy::Pin);
  CHECK(d.sites[0].pin_on == 0);  // no local device gains
  CHECK(d.sites[0].saved_s > 0);
  CHECK(d.sites[0].terms.margin_ns > 0);  // on trial
  CHECK(d.sites[1].policy == Policy::Standard);
  CHECK(d.sites[2].policy == Policy::Standard);
  Decision gpu = decide(platform({device("gpu", 11, 54)}), p, {});
  const double saved_s = gpu.sites[0].saved_s;
  serve_executors(gpu, p);
  CHECK(gpu.sites[0].saved_s == saved_s);  // a better policy stays
  CHECK(gpu.sites[0].pin_on == 1);
}

TEST_CASE("sites without a largest size, and no platform at all, are no trouble") {
  model::ProfileSite s = site(128 * MiB, 2, 20);
  s.min_bytes = 0;
  s.max_bytes = UINT64_MAX;
  const Decision d = decide(platform({device("gpu", 11, 54)}), profile({s}), {});
  CHECK(d.sites[0].policy == Policy::Pin);
  CHECK(d.saved_s < 10);
  CHECK_FALSE(decide(platform({}), profile({s}), {}).worth_it);
}

TEST_CASE("a site may lose half of what it promises, five milliseconds and its pins; what is demanded, anything") {
  DeviceCosts gpu = device("gpu", 11, 54);
  const SiteDecision d = decide(platform({gpu}), profile({site(128 * MiB, 2, 20)}), {}).sites[0];
  const auto without_pin = static_cast<double>(d.terms.margin_ns);
  CHECK(without_pin == doctest::Approx((0.005 + d.saved_s / 2) * 1e9));
  gpu.pin = line(20);
  const SiteTerms with_pin = decide(platform({gpu}), profile({site(128 * MiB, 2, 20)}), {}).sites[0].terms;
  CHECK(static_cast<double>(with_pin.margin_ns) ==
        doctest::Approx(without_pin + 2 * (*gpu.pin)(128 * MiB)));
  CHECK(with_pin.reuse_ns_per_byte == doctest::Approx(line(3)(128 * MiB) / (128 * MiB)));
  CHECK(decide(platform({gpu}), profile({site(128 * MiB, 2, 20)}), Policy::Pin).sites[0].terms.margin_ns == 0);
  CHECK(decide(platform({gpu}), profile({site(128 * MiB, 100'000, 20)}), {}).sites[0].terms.margin_ns ==
        MostMargin_ns);
}

namespace {

// Which of the sizes 2^b are served beside the profile's.
uint64_t other_sizes(const DeviceCosts& gpu, const model::ProfileSite& s, std::optional<Policy> forced = {}) {
  return decide(platform({gpu}), profile({s}), forced).sites[0].terms.other_sizes;
}

uint64_t bits(uint32_t first, uint32_t last) { return ((uint64_t{2} << (last - first)) - 1) << first; }

// Faster up to 1 MiB only.
DeviceCosts fast_when_small() {
  DeviceCosts d = device("gpu", 11, 11);
  PolicyCosts& pinned = *d.policies[static_cast<size_t>(Policy::Pin)];
  pinned.h2d = pinned.d2h = Curve::make({{64, 100}, {MiB, 100}, {2 * MiB, 1e6}, {1e9, 1e9}}).value();
  return d;
}

}  // namespace

TEST_CASE("sizes that the profile did not see are served where the curves say that they gain") {
  CHECK(other_sizes(device("gpu", 11, 54), site(1 * MiB, 100, 20)) == bits(16, 28));  // a 16th; 256 times
  CHECK(other_sizes(fast_when_small(), site(65536, 10'000, 20)) == bits(12, 19));     // a call is all below 4 KiB
  model::ProfileSite wide = site(65536, 10'000, 20);
  wide.min_bytes = 4096;
  wide.max_bytes = 262'143;
  CHECK(other_sizes(fast_when_small(), wide) == bits(18, 20));  // what was seen needs no bit; half is transferred
  CHECK(other_sizes(device("cpu", 11, 11), site(1 * MiB, 100, 20)) == 0);
  CHECK(other_sizes(device("cpu", 11, 11), site(1 * MiB, 100, 20), Policy::Pin) == 0);  // demanded: as the profile says
  wide.max_bytes = UINT64_MAX;
  CHECK(other_sizes(device("gpu", 11, 54), wide) == 0);
}

TEST_CASE("a size is served only if its policy gains wherever the site is pinned") {
  const auto sizes = [](std::vector<DeviceCosts> devices) {
    return decide(platform(std::move(devices)), profile({site(65536, 10'000, 20)}), {}).sites[0].terms.other_sizes;
  };
  CHECK(sizes({device("gpu", 11, 54), fast_when_small()}) == bits(12, 19));
  CHECK(sizes({device("gpu", 11, 54), device("cpu", 11, 11)}) == bits(12, 24));
}

TEST_CASE("what a transfer saves counts against the driver, and decides against the better of driver and staging") {
  WayCosts costs{};
  for (size_t b = 0; b < CostSizes; ++b) {
    costs.standard.ns[b] = 1000 * static_cast<float>(b + 1);
    costs.staged.ns[b] = 400 * static_cast<float>(b + 1);
    costs.pinned.ns[b] = 500 * static_cast<float>(b + 1);
  }
  CHECK(transfer_saving(costs, Policy::Pin, 8, true).counts == doctest::Approx(2000));
  CHECK(transfer_saving(costs, Policy::Pin, 8, true).decides == doctest::Approx(-400));
  CHECK(transfer_saving(costs, Policy::Pin, 8, false).decides == doctest::Approx(2000));
  CHECK(transfer_saving(costs, Policy::Locked, 8, false).counts == 0);  // not measured
  CHECK(transfer_saving(costs, Policy::Standard, 8, false).counts == 0);
}

namespace {

EncodedPlan sample_plan(size_t sites = 3) {
  std::vector<model::ProfileSite> list;
  for (size_t i = 0; i < sites; ++i) list.push_back(site(1 * MiB + static_cast<double>(i), 5, 3));
  const model::Profile p = profile(list);
  const model::Platform machine = platform({device("gpu", 11, 54)});
  return encode_plan(machine, p, decide(machine, p, {}), false, Staging::Auto, Reuse::Auto);
}

// Aligned as a mapping would be.
struct Buffer {
  std::vector<uint64_t> words;
  size_t size;
  explicit Buffer(const std::string& bytes) : words(bytes.size() / 8 + 1), size(bytes.size()) {
    std::memcpy(words.data(), bytes.data(), bytes.size());
  }
  PlanView view() const {
    return read_plan({reinterpret_cast<const std::byte*>(words.data()), size});
  }
};

}  // namespace

TEST_CASE("a plan is read as it was written") {
  const EncodedPlan plan = sample_plan();
  const Buffer b(plan.bytes);
  const PlanView v = b.view();
  REQUIRE(v.sites.size() == 3);
  REQUIRE(v.devices.size() == 1);
  CHECK(std::string(v.devices[0].name) == "gpu");
  CHECK(v.sites[2].offset == 0x1234);
  CHECK(v.sites[2].min_bytes == (1 << 20) + 2);
  CHECK(v.sites[2].policy == static_cast<uint32_t>(Policy::Pin));
  CHECK(v.sites[2].pin_on == 1);
  CHECK(plan.site_of_plan == std::vector<size_t>{0, 1, 2});
  CHECK(v.sites[0].margin_ns > 0);
  CHECK(v.sites[0].saw(1 << 20));
  CHECK_FALSE(v.sites[0].saw((1 << 20) + 1));
  CHECK(v.sites[0].gains_at((1 << 20) + 1));
  CHECK(v.sites[0].gains_at((size_t{1} << 29) - 1));
  CHECK_FALSE(v.sites[0].gains_at(size_t{1} << 29));
  CHECK_FALSE(v.sites[0].gains_at(0));
}

TEST_CASE("a plan says whether the pools are shared") {
  const model::Profile p = profile({site(1 * MiB, 5, 3)});
  const model::Platform machine = platform({device("gpu", 11, 54)});
  for (const bool shared : {false, true}) {
    const EncodedPlan plan =
        encode_plan(machine, p, decide(machine, p, {}), false, Staging::Auto, Reuse::Auto, shared);
    CHECK(Buffer(plan.bytes).view().header->shared == (shared ? 1u : 0u));
  }
}

TEST_CASE("of too many sites those that save most stay") {
  const EncodedPlan plan = sample_plan(MaxSites + 100);
  CHECK(plan.site_of_plan.size() == MaxSites);
  CHECK(plan.site_of_plan.back() == MaxSites + 99);  // the largest
  CHECK(Buffer(plan.bytes).view().sites.size() == MaxSites);
}

TEST_CASE("the report counts the sites that were too many") {
  RunReport report;
  report.sites.resize(MaxSites + 100);
  for (SiteReport& s : report.sites) s.policy = "pin";
  report.sites[3].policy = "standard";
  leave_out(report, sample_plan(MaxSites + 100).site_of_plan);
  REQUIRE(report.fallbacks.size() == 1);
  CHECK(report.fallbacks[0] == std::pair<std::string, uint64_t>("too_many_sites", 99));
  CHECK(report.sites[99].policy == "standard");
  CHECK(report.sites[99].why == "; left to the C library: a run takes 256 sites, those that save most");
  CHECK(report.sites[100].policy == "pin");
  CHECK(report.sites[100].why.empty());
}

TEST_CASE("no damaged or truncated plan is believed") {
  const std::string good = sample_plan().bytes;
  for (size_t n = 0; n < good.size(); ++n) CHECK(Buffer(good.substr(0, n)).view().sites.empty());
  CHECK(Buffer(good + "x").view().sites.empty());
  std::mt19937 random(11);
  for (int i = 0; i < 5000; ++i) {
    std::string bad = good;
    const size_t at = random() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ static_cast<char>(1 + random() % 255));
    const Buffer b(bad);
    // The header's plain numbers are not under the checksum; everything that indexes memory is
    // checked.
    const PlanView v = b.view();
    if (!v.sites.empty()) CHECK(at < sizeof(PlanHeader));
  }
}

TEST_CASE("a hostile plan with a right checksum is refused") {
  const auto damaged = [](auto damage) {
    std::string bytes = sample_plan().bytes;
    auto* h = reinterpret_cast<PlanHeader*>(bytes.data());
    auto* s =
        reinterpret_cast<PlanSite*>(bytes.data() + sizeof *h + h->devices * sizeof(PlanDevice));
    damage(*h, *s);
    h->checksum = plan_checksum(std::as_bytes(std::span(bytes).subspan(sizeof *h)));
    return Buffer(bytes).view().sites.empty();
  };
  CHECK_FALSE(damaged([](PlanHeader&, PlanSite&) {}));
  CHECK(damaged([](PlanHeader&, PlanSite& s) { s.policy = 77; }));
  CHECK(damaged([](PlanHeader& h, PlanSite&) { h.shared = 2; }));
  CHECK(damaged([](PlanHeader&, PlanSite& s) { s.min_bytes = s.max_bytes + 1; }));
  CHECK(damaged([](PlanHeader&, PlanSite& s) { s.pin_on = 2; }));
  CHECK(damaged([](PlanHeader&, PlanSite& s) { std::memset(s.build_id, 'a', sizeof s.build_id); }));
  CHECK(damaged([](PlanHeader&, PlanSite& s) { s.module[0] = s.build_id[0] = 0; }));
  CHECK(damaged([](PlanHeader&, PlanSite& s) { s.margin_ns = MostMargin_ns + 1; }));
  CHECK(damaged([](PlanHeader&, PlanSite& s) { s.reuse_ns_per_byte = -1; }));
  CHECK(damaged([](PlanHeader&, PlanSite& s) { s.lock_ns_per_byte = std::numeric_limits<double>::quiet_NaN(); }));
  CHECK(damaged([](PlanHeader& h, PlanSite&) { h.sites = 1000000; }));
  CHECK(damaged([](PlanHeader& h, PlanSite&) { h.version = PlanVersion + 1; }));
}
