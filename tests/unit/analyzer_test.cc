// The analysis of traces made by hand, whose answers are known.
#include "analyzer/analysis.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/profile/make_profile.h"
#include "analyzer/report/json_report.h"
#include "analyzer/report/report.h"
#include "traces/api/api.h"

using namespace gt;
using model::ArgForm;
using model::Effect;
using model::ObjectKind;

namespace {

// A trace in which shapes are added one by one.
struct Maker {
  model::Trace trace;

  Maker() {
    trace.processes.push_back({1, 0, "/bin/app", {"app"}, 0, 1'000'000'000, 0, 0});
    trace.threads.push_back({0, 1});
    trace.modules.push_back({0, 0, 0, "/nonexistent/app", "abcd"});
    trace.streams.push_back({0, false, {}, {}});
    trace.facts = {{"wall_ns", "1000000000"}};
  }
  model::SiteId site(uint64_t offset) {
    trace.sites.push_back({0, offset});
    return static_cast<model::SiteId>(trace.sites.size() - 1);
  }
  model::ClassId cls(ObjectKind kind, model::SiteId at, model::FnId fn) {
    trace.classes.push_back({kind, 0, at, fn, model::NoIndex});
    return static_cast<model::ClassId>(trace.classes.size() - 1);
  }
  model::BlobId blob(std::string_view text) {
    const auto bytes = as_bytes(text);
    trace.blobs.push_back({Bytes(bytes.begin(), bytes.end()), text.size()});
    return static_cast<model::BlobId>(trace.blobs.size() - 1);
  }
  model::ShapeStats& shape(model::FnId fn, model::SiteId at, std::vector<model::Arg> args,
                           std::vector<int64_t> values, uint64_t calls) {
    trace.shapes.push_back({fn, at, 0, false, std::move(args), api::attributes(fn).transfer});
    trace.stats.emplace_back();
    trace.stats.back().calls = calls;
    model::Node node;
    node.shape = static_cast<model::ShapeId>(trace.shapes.size() - 1);
    for (const int64_t v : values) node.values.emplace_back(v);
    trace.streams[0].nodes.push_back(node);
    return trace.stats.back();
  }
  model::ClassId allocate(uint64_t offset, uint64_t bytes, uint64_t times) {
    const auto malloc_fn = static_cast<model::FnId>(api::AllocFn::Malloc);
    const auto at = site(offset);
    const auto c = cls(ObjectKind::Segment, at, malloc_fn);
    auto& s =
        shape(malloc_fn, at, {{model::ParamReturn, ArgForm::Object, Effect::Def, c}}, {0}, times);
    for (uint64_t i = 0; i < times; ++i) s.bytes.add(bytes);
    return c;
  }
  void transfer(const char* name, model::ClassId memory, uint64_t bytes, uint64_t times,
                uint64_t ns, bool timed = true) {
    auto& s = shape(api::find_function(name), site(0x900),
                    {{5, ArgForm::Memory, Effect::Use, memory}}, {0, 0}, times);
    for (uint64_t i = 0; i < times; ++i) {
      s.bytes.add(bytes);
      s.host_ns.add(2 * ns);
      if (timed) s.device_ns.add(ns);
    }
  }
  void device(uint64_t kernel_ns, uint64_t transfer_ns) {
    model::DeviceTime d;
    d.device = "gpu";
    d.kernel_ns = kernel_ns;
    d.transfer_ns = transfer_ns;
    d.kernels = d.transfers = 1;
    trace.devices.push_back(d);
  }
};

analyzer::Analysis analyze(const Maker& m, const model::Platform* platform = nullptr) {
  return analyzer::analyze(m.trace, 0.1, platform);
}

model::Platform platform_with(double standard_ns, double pin_ns) {
  model::Platform p;
  model::DeviceCosts d;
  d.name = "gpu";
  const auto curve = [](double ns) { return model::Curve::make({{1 << 20, ns}}).value(); };
  d.policies[static_cast<size_t>(model::Policy::Standard)] = {curve(1), curve(standard_ns),
                                                              curve(standard_ns), 0, 0};
  d.policies[static_cast<size_t>(model::Policy::Pin)] = {curve(1), curve(pin_ns), curve(pin_ns), 0,
                                                         0};
  p.devices.push_back(d);
  return p;
}

}  // namespace

TEST_CASE("the dispatch ratio decides at its threshold") {
  Maker at, below, none, only_transfers;
  at.device(1000, 100);
  below.device(1000, 99);
  only_transfers.device(0, 5);
  CHECK(analyze(at).ratio.eligible);
  CHECK_FALSE(analyze(below).ratio.eligible);
  CHECK(analyze(below).ratio.program.value() == doctest::Approx(0.099));
  CHECK_FALSE(analyze(none).ratio.eligible);
  CHECK_FALSE(analyze(none).ratio.program.defined());
  CHECK(analyze(only_transfers).ratio.eligible);
  CHECK(std::isinf(analyze(only_transfers).ratio.program.value()));
}

TEST_CASE("devices add up, and what was not timed is said") {
  Maker m;
  m.device(1000, 100);
  m.device(1000, 300);
  m.trace.devices[1].untimed_transfers = 7;
  const auto a = analyze(m);
  CHECK(a.ratio.program.value() == doctest::Approx(0.2));
  CHECK(a.ratio.untimed.find("7 of 9 transfers") != std::string::npos);
  CHECK(a.ratio.estimated.empty());
}

TEST_CASE("what was estimated is said") {
  Maker m;
  m.device(1000, 100);
  m.trace.devices[0].estimated_kernels = 15;
  const auto a = analyze(m);
  CHECK(a.ratio.estimated.find("1 of 16 kernel runs") != std::string::npos);
  CHECK(a.ratio.untimed.empty());
}

TEST_CASE("transfers are summed by the site that allocated their memory") {
  Maker m;
  m.device(1000, 500);
  const auto hot = m.allocate(0x10, 4 << 20, 2);
  const auto cold = m.allocate(0x20, 8 << 20, 1);
  m.allocate(0x30, 64, 100);  // feeds nothing
  m.transfer("clEnqueueWriteBuffer", hot, 4 << 20, 10, 1000);
  m.transfer("clEnqueueReadBuffer", hot, 1 << 20, 4, 500);
  m.transfer("clEnqueueReadBuffer", cold, 8 << 20, 1, 700, false);
  const auto stack = m.cls(ObjectKind::Stack, model::NoIndex, 0);
  m.transfer("clEnqueueReadBuffer", stack, 4, 3, 1);
  const auto a = analyze(m);
  REQUIRE(a.sources.size() == 3);
  const auto& h = a.sources[0];
  CHECK(h.site.offset == 0x10);
  CHECK(h.call == "malloc");
  CHECK(h.allocations == 2);
  CHECK(h.sums.h2d_bytes == 40u << 20);
  CHECK(h.sums.d2h_bytes == 4u << 20);
  CHECK(h.sums.time_ns == 12000);
  CHECK(h.transfers_each() == 7);
  CHECK(a.sources[1].sums.untimed == 1);
  CHECK(a.sources[1].sums.time_ns == 1400);  // the host's time, as the device's is not known
  CHECK(a.sources[2].kind == ObjectKind::Stack);
  CHECK(a.sources[2].name() == "the stack");
}

TEST_CASE("allocating threads do not split a site") {
  Maker m;
  m.device(1000, 500);
  const auto first = m.allocate(0x10, 1 << 20, 1);
  auto other = m.trace.classes[first];
  other.thread = 1;
  m.trace.threads.push_back({0, 2});
  m.trace.classes.push_back(other);
  m.transfer("clEnqueueWriteBuffer", first, 1 << 20, 1, 10);
  m.transfer("clEnqueueWriteBuffer", first + 1, 1 << 20, 1, 10);
  const auto a = analyze(m);
  REQUIRE(a.sources.size() == 1);
  CHECK(a.sources[0].sums.transfers == 2);
}

TEST_CASE("failed calls transfer nothing") {
  Maker m;
  const auto c = m.allocate(0x10, 1 << 20, 1);
  m.transfer("clEnqueueWriteBuffer", c, 1 << 20, 2, 10);
  m.trace.stats.back().failed = 2;
  CHECK(analyze(m).sources.empty());
}

TEST_CASE("the profile names sites and sizes, and can be read back") {
  Maker m;
  m.device(1000, 500);
  m.transfer("clEnqueueWriteBuffer", m.allocate(0x10, 4 << 20, 2), 1 << 20, 10, 1000);
  const auto profile = analyzer::make_profile(analyze(m));
  CHECK(profile.eligible);
  REQUIRE(profile.sites.size() == 1);
  CHECK(profile.sites[0].build_id == "abcd");
  CHECK(profile.sites[0].module == "app");
  CHECK(profile.sites[0].offset == 0x10);
  CHECK(profile.sites[0].min_bytes == (4u << 20) / 16);  // other inputs may be smaller
  CHECK(profile.sites[0].max_bytes == (4u << 20) * 16);
  CHECK(profile.sites[0].transfers_each == 5);
  CHECK(model::parse_profile(model::format_profile(profile), "p").ok());
}

TEST_CASE("pageable transfers: found when hot, with a saving when the platform was measured") {
  Maker m;
  m.device(1000, 500);
  m.transfer("clEnqueueWriteBuffer", m.allocate(0x10, 1 << 20, 1), 1 << 20, 1000, 100'000);
  m.transfer("clEnqueueWriteBuffer", m.allocate(0x20, 64, 1), 64, 10, 100);
  const auto blind = analyze(m);
  REQUIRE(blind.found.findings.size() == 1);
  CHECK(blind.found.findings[0].rule == "pageable-transfers");
  CHECK_FALSE(blind.found.findings[0].saving_s);
  const auto gain = platform_with(100'000, 20'000);
  const auto seen = analyze(m, &gain);
  REQUIRE(seen.found.findings.size() == 1);
  CHECK(seen.found.findings[0].saving_s.value_or(0) == doctest::Approx(0.08));
  const auto same = platform_with(100'000, 100'000);
  CHECK(analyze(m, &same).found.findings.empty());
}

TEST_CASE("repeated builds: only of one source") {
  for (const bool one : {true, false}) {
    Maker m;
    const auto at = m.site(0x40);
    const auto fn = api::find_function("clCreateProgramWithSource");
    const auto program = m.cls(ObjectKind::Program, at, fn);
    const auto text = m.blob("kernel void k() {}");
    m.shape(fn, at,
            {{2, ArgForm::Blob, Effect::None, model::NoIndex},
             {model::ParamReturn, ArgForm::Object, Effect::Def, program}},
            {text, 0}, 10);
    if (!one) {
      const std::vector<int64_t> two{0, 1};
      m.trace.streams[0].nodes.back().values[0] = model::make_column_series(two);
    }
    auto& s = m.shape(api::find_function("clBuildProgram"), at,
                      {{0, ArgForm::Object, Effect::Use, program},
                       {3, ArgForm::Null, Effect::None, model::NoIndex}},
                      {0}, 10);
    for (int i = 0; i < 10; ++i) s.host_ns.add(10'000'000);
    s.first_host_ns = 10'000'000;
    const auto a = analyze(m);
    REQUIRE(a.found.findings.size() == (one ? 1 : 0));
    if (one) CHECK(a.found.findings[0].saving_s.value_or(0) == doctest::Approx(0.09));
  }
}

TEST_CASE("what cannot go to a remote device is named") {
  Maker m;
  CHECK(analyze(m).remote.eligible);
  m.shape(api::find_function("clSVMAlloc"), m.site(1),
          {{1, ArgForm::Int, Effect::None, model::NoIndex}}, {1}, 1);
  CHECK(analyze(m).remote.eligible);  // coarse-grained
  m.shape(api::find_function("clSVMAlloc"), m.site(4),
          {{1, ArgForm::Int, Effect::None, model::NoIndex}}, {1 << 10}, 1);
  CHECK(analyze(m).remote.eligible);  // fine-grained
  m.shape(api::find_function("clSVMAlloc"), m.site(2),
          {{1, ArgForm::Int, Effect::None, model::NoIndex}}, {1 << 10 | 1 << 11}, 1);  // with atomics
  m.shape(api::find_function("clEnqueueNativeKernel"), m.site(3), {}, {}, 1);
  const auto r = analyze(m).remote;
  CHECK_FALSE(r.eligible);
  CHECK(r.reasons.size() == 2);
}

TEST_CASE("kernels are joined with their source") {
  Maker m;
  const auto at = m.site(0x50);
  const auto c = m.cls(ObjectKind::Kernel, at, 0);
  const auto source =
      m.blob(std::string_view("kernel void k(global int* a, int n) { a[n] = VALUE; }\0", 54));
  m.trace.kernels.push_back({c, "k", source, m.blob("-DVALUE=3")});
  auto& s = m.shape(api::find_function("clEnqueueNDRangeKernel"), at,
                    {{1, ArgForm::Object, Effect::Use, c}}, {0}, 5);
  for (int i = 0; i < 5; ++i) s.device_ns.add(10);
  const auto a = analyze(m);
  REQUIRE(a.kernels.size() == 1);
  CHECK(a.kernels[0].launches == 5);
  CHECK(a.kernels[0].time_ns == 50);
  CHECK_MESSAGE(a.kernels[0].exact, a.kernels[0].note);
  REQUIRE(a.kernels[0].args.size() == 2);
  CHECK(a.kernels[0].args[0].access == kernels::Access::Write);
}

TEST_CASE("the JSON has the keys that others build on") {
  Maker m;
  m.device(0, 500);
  m.transfer("clEnqueueWriteBuffer", m.allocate(0x10, 4 << 20, 2), 1 << 20, 10, 1000);
  m.trace.processes[0].executable = "/bin/\xff";
  const auto j = nlohmann::json::parse(analyzer::format_json(analyze(m), "t.db", "p"));
  CHECK(j["dispatch_ratio"].is_null());  // infinite
  CHECK(j["eligible"] == true);
  const auto& a = j["allocations"][0];
  for (const char* key : {"site", "count", "bytes", "h2d", "d2h", "time_ns"})
    CHECK(a.contains(key));
  for (const char* key : {"module", "offset", "function", "file", "line"})
    CHECK(a["site"].contains(key));
  for (const char* key : {"rule", "place", "saving_s", "advice"})
    CHECK(j["findings"][0].contains(key));
  CHECK(j["remote"]["eligible"] == true);
  CHECK(j["remote"]["reasons"].empty());
}

TEST_CASE("the text fits its width and is plain unless asked") {
  Maker m;
  m.device(1000, 500);
  m.transfer("clEnqueueWriteBuffer", m.allocate(0x10, 4 << 20, 2), 1 << 20, 10, 1000);
  const std::string text =
      analyzer::format_report(analyze(m), "t.db", "app.gprofile", {100, false});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("goptimize run /bin/app") != std::string::npos);
  CHECK(text.find("app.gprofile") != std::string::npos);
  size_t start = 0;
  for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    CHECK(end - start <= 100);
  }
  Maker empty;
  const std::string none = analyzer::format_report(analyze(empty), "t.db", "", {100, false});
  CHECK(none.find("no OpenCL calls") != std::string::npos);
}
