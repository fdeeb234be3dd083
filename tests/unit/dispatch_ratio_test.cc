// The dispatch ratio of queues, contexts and the steady state, in traces made by hand.
#include "analyzer/transfers/dispatch_ratio.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/analysis.h"
#include "analyzer/report/json_report.h"
#include "tests/unit/sample_trace.h"

using namespace gt;
using namespace gt::testing;

namespace {

DeviceTime busy(uint64_t kernel_ns, uint64_t transfer_ns, uint64_t steady_kernel_ns, uint64_t steady_transfer_ns) {
  DeviceTime t;
  t.kernel_ns = kernel_ns;
  t.transfer_ns = t.h2d_ns = transfer_ns;
  t.steady_kernel_ns = steady_kernel_ns;
  t.steady_transfer_ns = steady_transfer_ns;
  t.kernels = t.transfers = 2;
  return t;
}

// The loop of the paper, on two devices: its queue on the first, its context on both.
Trace two_devices() {
  Trace t = paper_loop(10);
  t.devices = {busy(1000, 300, 800, 200), busy(1000, 100, 0, 0)};
  t.devices[0].device = "first";
  t.devices[1].device = "second";
  t.classes.push_back({ObjectKind::Context, 0, 1, fn(api::FnId::clCreateContext), NoIndex});
  const auto context = static_cast<ClassId>(t.classes.size() - 1);
  t.object_times = {{1, 0, 0, t.devices[0]}, {context, 0, 0, t.devices[0]}, {context, 0, 1, t.devices[1]}};
  return t;
}

analyzer::DispatchRatio ratio_of(const Trace& t) {
  analyzer::CallSites sites;
  return analyzer::find_dispatch_ratio(t, 0.1, sites);
}

}  // namespace

TEST_CASE("a context's ratio is that of its devices together") {
  const auto r = ratio_of(two_devices());
  REQUIRE(r.queues.size() == 1);
  CHECK(r.queues[0].name == "q0");
  CHECK(r.queues[0].site.offset == 0x1200);
  CHECK(r.queues[0].ratio.value() == doctest::Approx(0.3));
  CHECK(r.queues[0].devices == std::vector<std::string>{"first"});
  REQUIRE(r.contexts.size() == 1);
  CHECK(r.contexts[0].ratio.value() == doctest::Approx(0.2));
  CHECK(r.contexts[0].devices.size() == 2);
}

TEST_CASE("the steady state is told, and the verdict is on the whole program") {
  Trace t = two_devices();
  auto r = ratio_of(t);
  CHECK(r.program.steady_value() == doctest::Approx(0.25));
  CHECK(r.steady.find("0.25") != std::string::npos);
  CHECK(r.eligible);
  t.devices = {busy(1000, 300, 800, 1)};
  t.object_times.clear();
  r = ratio_of(t);
  CHECK(r.eligible);
  CHECK(r.steady.find("0.00125") != std::string::npos);
  t.devices = {busy(1000, 300, 0, 5)};
  CHECK(std::isinf(ratio_of(t).program.steady_value()));
  t.devices = {busy(1000, 300, 0, 0)};
  CHECK(ratio_of(t).steady.empty());
}

TEST_CASE("a trace of an earlier format has neither") {
  Trace t = paper_loop(10);
  const auto r = ratio_of(t);
  CHECK(r.queues.empty());
  CHECK(r.contexts.empty());
  CHECK(r.steady.empty());
  const auto j = nlohmann::json::parse(analyzer::format_json(analyzer::analyze(t, 0.1, nullptr), "t.db", ""));
  CHECK(j["time"]["steady"]["ratio"].is_null());
  CHECK(j["queues"].empty());
}
