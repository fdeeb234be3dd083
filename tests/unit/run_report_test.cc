// The summary that ends a run explains a gain, and the lack of one.
#include <doctest/doctest.h>

#include "optimizer-rt/goptimize/report.h"
#include "optimizer-rt/goptimize/touch_costs.h"

using namespace gt::opt;

namespace {

SiteReport site(const char* name, double saved_s) {
  SiteReport s;
  s.site = name;
  s.policy = "pin";
  s.why = "12 % of standard's cost on a gpu";
  s.allocations = 3;
  s.bytes = 3 << 20;
  s.hits = 6;
  s.hit_bytes = 6 << 20;
  s.saved_s = saved_s;
  return s;
}

RunReport report(std::vector<SiteReport> sites) {
  RunReport r;
  r.decision = "1 of 1 allocation sites optimized by app.gprofile";
  r.injected = r.measured = true;
  r.transfers = 10;
  r.transfer_bytes = 10 << 20;
  r.sites = std::move(sites);
  return r;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a gain says where it comes from") {
  RunReport r = report({site("main (a.c:3)", 1.25)});
  r.staged_saved_ns = 500'000'000;
  r.reused_saved_ns = 300'000'000;
  r.reuse_pin_ns = 100'000'000;
  CHECK(saved_s(r) == doctest::Approx(1.95));
  CHECK(outcome(r) ==
        "about 1.950 s saved, by the measured costs: 1.250 s at allocation sites, 0.500 s by staging, "
        "0.200 s by pinning on reuse");
  const std::string text = report_text(r);
  CHECK(has(text, "  main (a.c:3): pin, 3 allocations of 3.0 MiB, 6 transfers of 6.0 MiB, 1.250 s saved\n"));
  CHECK_FALSE(has(text, "12 %"));
}

TEST_CASE("what pages saved is an estimate, apart") {
  RunReport r = report({site("main (a.c:3)", 1.25)});
  r.huge_blocks = 3;
  r.huge_bytes = r.huge_filled = uint64_t{1} << 30;
  r.pages_saved_s = 0.5;
  CHECK(saved_s(r) == doctest::Approx(1.25));
  CHECK(has(outcome(r), "about 1.250 s saved, by the measured costs"));
  CHECK(has(outcome(r), "; huge pages: about 0.500 s saved, as estimated"));
  r.sites.clear();
  CHECK(has(outcome(r), "up to 1.0 GiB: about 0.500 s saved, as estimated"));
  CHECK(touching_saved_s({0.5, 0.1, 0.05}, 1'000'000'000, 2'000'000'000) == doctest::Approx(0.4 + 0.9));
  CHECK(touching_saved_s({0.1, 0.5, 0.5}, 1'000'000'000, 2'000'000'000) == 0);
  const TouchCosts here = measure_touch();
  CHECK(here.ordinary > here.warm);
}

TEST_CASE("no gain says why") {
  RunReport r = report({site("main", 0)});
  CHECK(has(outcome(r), "less than half a millisecond"));
  r.sites[0].saved_s = -0.2;
  CHECK(has(outcome(r), "about 0.200 s lost: the program does not do what its profile says"));
  CHECK(has(report_text(r), "0.200 s lost\n    12 %"));
  r.measured = false;
  CHECK_FALSE(has(report_text(r), "12 %"));
  CHECK(has(outcome(r), "not known: this machine was not measured"));
  r.unmeasured = "GPU could not be measured on 2026-11-22: clFinish failed (-36)";
  CHECK(outcome(r) == "what that saved is not known: " + r.unmeasured);
  r.measured = true;
  r.devices_met = 1;
  CHECK(has(outcome(r), "the platform file has no costs of the program's devices"));
  CHECK(has(outcome(r), "; GPU could not be measured on 2026-11-22: clFinish failed (-36)"));
  r.devices_known = 1;
  r.sites[0].hits = 0;
  CHECK(outcome(r) ==
        "nothing saved: its 10 transfers (10.0 MiB) are of other memory than the profile names, or too small");
  r.transfers = 0;
  CHECK(outcome(r) == "nothing saved: the program transferred nothing");
  r.injected = false;
  CHECK(outcome(r) == r.decision);
  CHECK(report_text(r) == "goptimize: " + r.decision + "\n");
}

TEST_CASE("a site that lost its policy says why") {
  SiteReport s = site("main", -0.01);
  s.suspensions = 1;
  s.why += "; pin until allocation 37: its memory is not transferred as the profile says";
  CHECK(has(report_text(report({s})),
            "0.010 s lost\n    12 % of standard's cost on a gpu; pin until allocation 37: its memory is not"));
}

TEST_CASE("staging that lost says so, and what to do") {
  RunReport r = report({});
  r.staged = 8;
  r.staged_lost_ns = 300'000'000;
  r.staged_suspensions = 1;
  r.staged_left = 5;
  CHECK(outcome(r) == "about 0.300 s lost: staging took longer than it was measured to (gmicrobench platform)");
  CHECK(has(report_text(r), "staging took longer than the driver was measured to: suspended 1 times, 5 transfers"));
}

TEST_CASE("sizes that the profile did not see are counted in their site, and told apart") {
  Counters counters{};
  SiteCounters& seen = counters.sites[0];
  SiteCounters& others = counters.sites[MaxSites];
  add(seen.allocations, 10);
  add(others.allocations, 5);
  add(others.left, 3);
  add(others.refused_sizes, 2);
  add(others.suspensions, 1);
  add(others.suspended_at, 6);
  add(others.paid_ns, 1'000'000'000);
  RunReport r = report({site("main", 0)});
  r.sites[0].allocations = r.sites[0].hits = 0;
  add_counters(r, counters, {0});
  const SiteReport& s = r.sites[0];
  CHECK(s.allocations == 15);
  CHECK(s.left == 3);
  CHECK(s.other_sizes == 10);
  CHECK(s.other_sizes_served == 5);
  CHECK(s.suspensions == 1);
  CHECK(s.saved_s == doctest::Approx(-1));
  CHECK(has(s.why, "; 8 allocations were of other sizes; pin for these until allocation 6: its memory is not"));
}

TEST_CASE("of many sites those that gained or lost most are shown") {
  std::vector<SiteReport> sites;
  for (int i = 0; i < 20; ++i) sites.push_back(site(("f" + std::to_string(i)).c_str(), i == 7 ? -5 : i * 0.1));
  const std::string text = report_text(report(sites));
  CHECK(text.find("f7: ") < text.find("f19: "));
  CHECK(has(text, "f13: "));
  CHECK_FALSE(has(text, "f12: "));
  CHECK(has(text, "and 12 sites more: --report FILE has all"));
}

TEST_CASE("sites that were left alone are not listed") {
  SiteReport s = site("main", 0);
  s.policy = "standard";
  CHECK_FALSE(has(report_text(report({s})), "main"));
}
