// From analyses to profiles: sites with their callers, staging, routes, predictions; one profile of several analyses.
#include "analyzer/profile/make_profile.h"

#include <doctest/doctest.h>

#include "analyzer/profile/profile_check.h"
#include "analyzer/profile/unite_profiles.h"

using namespace gt;
using analyzer::Analysis;
using analyzer::CallSite;
using analyzer::TransferSource;
using model::ObjectKind;

namespace {

constexpr uint64_t MiB = 1 << 20;

CallSite place(uint64_t offset, const char* function = "f") {
  CallSite s;
  s.module = "/bin/app";
  s.build_id = "abcd";
  s.offset = offset;
  s.frames = {{function, "/src/app.c", static_cast<int>(offset)}};
  return s;
}

TransferSource source(ObjectKind kind, CallSite at, uint64_t bytes, uint64_t allocations, uint64_t transfers) {
  TransferSource s;
  s.kind = kind;
  s.site = std::move(at);
  if (kind == ObjectKind::Segment) {
    s.call = "malloc";
    s.allocations = allocations;
    s.sizes.add(bytes, allocations);
  }
  s.sums.transfers = s.sums.h2d_count = transfers;
  s.sums.h2d_bytes = bytes * transfers;
  s.sums.time_ns = 1000 * transfers;
  s.sums.sizes.add(bytes, transfers);
  return s;
}

Analysis analysis(std::vector<TransferSource> sources, uint64_t kernel_ns = 1000, uint64_t transfer_ns = 500) {
  Analysis a;
  a.program = "/bin/app";
  a.build_id = "abcd";
  a.digest = "1234";
  a.ratio.program.kernel_ns = kernel_ns;
  a.ratio.program.transfer_ns = transfer_ns;
  a.ratio.eligible = a.ratio.program.value() >= 0.1;
  a.ratio.devices = {{"gpu", a.ratio.program}};
  a.sources = std::move(sources);
  return a;
}

model::Platform platform(double standard_gbps, double pinned_gbps) {
  const auto line = [](double gbps) {
    return model::Curve::make({{64, 5000}, {65536, 5000 + 65536 / gbps}, {1e9, 5000 + 1e9 / gbps}}).value();
  };
  model::DeviceCosts d;
  d.name = "gpu";
  d.driver = "7";
  for (const auto policy : {model::Policy::Standard, model::Policy::Pin}) {
    const double gbps = policy == model::Policy::Pin ? pinned_gbps : standard_gbps;
    d.policies[static_cast<size_t>(policy)] = {line(3), line(gbps), line(gbps), 0, 0};
  }
  model::Platform p;
  p.machine.cpu = "a processor";
  p.devices.push_back(d);
  return p;
}

analyzer::Input input(const char* file, Analysis a) {
  analyzer::Input i;
  i.file = file;
  i.profile = analyzer::make_profile(a);
  i.analysis = std::move(a);
  return i;
}

void check_sound(const model::Profile& p) {
  const auto again = model::parse_profile(model::format_profile(p), "p");
  CHECK_MESSAGE(again.ok(), again.status().text());
}

}  // namespace

TEST_CASE("a queue that cannot go where others can has a route of its own, which is read back") {
  Analysis a = analysis({});
  analyzer::RemoteFeature& native = a.remote.features.emplace_back();
  native.reason = "native kernels";
  native.blocks = true;
  native.queue = 2;
  a.remote.queues = {{.queue = 1, .site = place(0x10)}, {.queue = 2, .site = place(0x20), .eligible = false}};
  CHECK(make_profile(a, nullptr).routes.size() == 3);
  const auto again = model::parse_profile(model::format_profile(make_profile(a, nullptr)), "p");
  REQUIRE(again.ok());
  REQUIRE(again->routes.size() == 3);
  CHECK(again->routes[0].whole_program());
  CHECK(again->routes[1].remote);
  CHECK(again->routes[2].queue.offset == 0x20);
  CHECK_FALSE(again->routes[2].remote);
  CHECK(again->routes[2].reasons == std::vector<std::string>{"native kernels"});
}

TEST_CASE("queues that are like their program are not listed") {
  Analysis a = analysis({});
  a.remote.queues = {{.queue = 1, .site = place(0x10)}, {.queue = 2, .site = place(0x20)}};
  CHECK(make_profile(a, nullptr).routes.size() == 1);
}

TEST_CASE("a wrapper's uses are sites of their own, with their callers") {
  CallSite one = place(0x10, "xmalloc"), two = one;
  one.around = {place(0x20, "read_image")};
  two.around = {place(0x30, "make_result"), place(0x40, "main")};
  const auto p = analyzer::make_profile(
      analysis({source(ObjectKind::Segment, one, 4 * MiB, 2, 20), source(ObjectKind::Segment, two, MiB, 1, 5)}));
  REQUIRE(p.sites.size() == 2);
  CHECK(p.sites[0].offset == 0x10);
  CHECK(p.sites[0].around == std::vector<model::ProfilePlace>{{"abcd", "app", 0x20}});
  CHECK(p.sites[0].where == "xmalloc (app.c:16) < read_image (app.c:32)");
  CHECK(p.sites[0].sizes == std::vector<model::SizeCount>{{4 * MiB, 2}});
  CHECK(p.sites[0].transfers_each == 10);
  CHECK(p.sites[1].around.size() == 2);
  check_sound(p);
}

TEST_CASE("one place that calls two functions is one site") {
  auto a = source(ObjectKind::Segment, place(0x10), MiB, 1, 5), b = a;
  b.call = "calloc";
  const auto p = analyzer::make_profile(analysis({a, b}));
  REQUIRE(p.sites.size() == 1);
  CHECK(p.sites[0].call == "malloc, calloc");
  CHECK(p.sites[0].allocations == 2);
}

TEST_CASE("memory that no allocation made gets advice: what to stage and from which size") {
  auto data = source(ObjectKind::Static, {}, 64 * MiB, 0, 3);
  data.path = "/lib/libdata.so";
  const auto p = analyzer::make_profile(
      analysis({data, source(ObjectKind::Stack, {}, 4096, 0, 100), source(ObjectKind::Unknown, {}, 8 * MiB, 0, 1),
                source(ObjectKind::Segment, {}, 32 * MiB, 1, 1)}));
  CHECK(p.sites.empty());
  REQUIRE(p.staging.size() == 3);
  CHECK(p.staging[0].kind == "static");
  CHECK(p.staging[0].module == "libdata.so");
  CHECK(p.staging[0].stage);
  CHECK(p.staging[0].stage_from == 4 * MiB);
  CHECK(p.staging[1].kind == "stack");
  CHECK_FALSE(p.staging[1].stage);
  CHECK(p.staging[2].kind == "unknown");  // with the allocation that nobody can name
  CHECK(p.staging[2].transfers == 2);
  CHECK(p.staging[2].smallest_bytes == 8 * MiB);
  CHECK(p.staging[2].largest_bytes == 32 * MiB);
  check_sound(p);
}

TEST_CASE("where pinned memory is no faster nothing is staged") {
  const auto same = platform(10, 10.1);
  const auto p = analyzer::make_profile(analysis({source(ObjectKind::Stack, {}, 64 * MiB, 0, 3)}), &same);
  REQUIRE(p.staging.size() == 1);
  CHECK_FALSE(p.staging[0].stage);
}

TEST_CASE("predictions name their platform and the policy") {
  const auto gpu = platform(11, 54);
  const Analysis a = analysis({source(ObjectKind::Segment, place(0x10), 128 * MiB, 2, 40)});
  const auto p = analyzer::make_profile(a, &gpu);
  REQUIRE(p.platform);
  CHECK(p.platform->device == "gpu");
  CHECK(p.platform->fingerprint == model::fingerprint(gpu.machine));
  CHECK(p.sites[0].policy == "auto");
  CHECK(p.sites[0].predicted_policy == "pin");
  CHECK(p.sites[0].standard_s - p.sites[0].predicted_s ==
        doctest::Approx(40.0 * 128 * MiB * (1 / 11e9 - 1 / 54e9)).epsilon(0.1));
  check_sound(p);
  auto other = gpu;
  other.devices[0].name = "another";
  CHECK_FALSE(analyzer::make_profile(a, &other).platform);
}

TEST_CASE("sites together are predicted to save no more than moving data and first touch took of the run") {
  const auto gpu = platform(11, 54);
  Analysis a = analysis({source(ObjectKind::Segment, place(0x10), 128 * MiB, 2, 40),
                         source(ObjectKind::Segment, place(0x20), 64 * MiB, 2, 40)});
  const auto saved = [&] {
    double s = 0;
    for (const auto& site : analyzer::make_profile(a, &gpu).sites) s += site.standard_s - site.predicted_s;
    return s;
  };
  const double all = saved();
  a.run.whole_ns = 10'000'000'000;
  a.run.transfer_ns = 5'000'000'000;
  CHECK(saved() == doctest::Approx(all));
  a.run.transfer_ns = 100'000'000;
  REQUIRE(all > 0.2);
  CHECK(saved() == doctest::Approx(0.1));
}

TEST_CASE("the program's route says what stands against remote devices") {
  Analysis a = analysis({});
  CHECK(analyzer::make_profile(a).routes[0].remote);
  a.remote.eligible = false;
  a.remote.reasons = {"native kernels"};
  const auto p = analyzer::make_profile(a);
  CHECK_FALSE(p.routes[0].remote);
  CHECK(p.routes[0].reasons == std::vector<std::string>{"native kernels"});
  check_sound(p);
}

TEST_CASE("what a trace calls a build-id may be anything") {
  CallSite odd = place(0x10);
  odd.build_id = "\"\n[site]";
  const auto p = analyzer::make_profile(analysis({source(ObjectKind::Segment, odd, MiB, 1, 5)}));
  CHECK(p.sites[0].build_id.empty());
  check_sound(p);
}

TEST_CASE("the profile of several traces holds for all of them") {
  std::vector<analyzer::Input> inputs;
  inputs.push_back(input(
      "a.db", analysis({source(ObjectKind::Segment, place(0x10), MiB, 1, 5),
                        source(ObjectKind::Segment, place(0x20), MiB, 1, 1), source(ObjectKind::Stack, {}, 4096, 0, 1)},
                       1000, 50)));
  inputs.push_back(input("b.db", analysis({source(ObjectKind::Segment, place(0x10), 64 * MiB, 3, 3),
                                           source(ObjectKind::Stack, {}, 16 * MiB, 0, 1)},
                                          1000, 450)));
  inputs[1].analysis.remote.eligible = false;
  inputs[1].analysis.remote.reasons = {"native kernels"};
  inputs[1].profile = analyzer::make_profile(inputs[1].analysis);
  const auto all = analyzer::unite_profiles(inputs, 0.1);
  REQUIRE_MESSAGE(all.ok(), all.status().text());
  CHECK(all->traces == 2);
  CHECK(all->dispatch_ratio == doctest::Approx(0.25));
  CHECK(all->eligible);  // although the first alone is not
  REQUIRE(all->sites.size() == 2);
  CHECK(all->sites[0].seen_in == 2);
  CHECK(all->sites[0].min_bytes == MiB / 16);
  CHECK(all->sites[0].max_bytes == 64 * 16 * MiB);
  CHECK(all->sites[0].transfers_each == doctest::Approx(2));  // (1 x 5 + 3 x 1) / 4
  CHECK(all->sites[0].typical_bytes == (MiB + 3 * 64 * MiB) / 4);
  CHECK(all->sites[1].seen_in == 1);
  REQUIRE(all->staging.size() == 1);
  CHECK(all->staging[0].stage);
  CHECK(all->staging[0].smallest_bytes == 4096);
  CHECK_FALSE(all->routes[0].remote);
  check_sound(*all);
}

TEST_CASE("traces of different programs, or of different builds, are refused") {
  std::vector<analyzer::Input> inputs;
  inputs.push_back(input("a.db", analysis({})));
  inputs.push_back(input("b.db", analysis({})));
  inputs[1].analysis.build_id = "ef";
  auto all = analyzer::unite_profiles(inputs, 0.1);
  REQUIRE_FALSE(all.ok());
  CHECK(all.status().text().find("a.db and b.db are of different builds of app") == 0);
  inputs[1].analysis.program = "/bin/other";
  all = analyzer::unite_profiles(inputs, 0.1);
  REQUIRE_FALSE(all.ok());
  CHECK(all.status().kind() == Kind::Invalid);
  CHECK(all.status().text().find("different programs (app, other)") != std::string::npos);
  inputs[1].analysis.build_id = "abcd";  // the same file under another name
  CHECK(analyzer::unite_profiles(inputs, 0.1).ok());
}

TEST_CASE("a comparison joins places across builds, and names what only one has") {
  std::vector<analyzer::Input> inputs;
  inputs.push_back(input("a.db", analysis({source(ObjectKind::Segment, place(0x10, "left"), MiB, 1, 5),
                                           source(ObjectKind::Segment, place(0x20, "right"), MiB, 1, 5)})));
  Analysis b = analysis({source(ObjectKind::Segment, place(0x18, "left"), MiB, 1, 5),
                         source(ObjectKind::Segment, place(0x30, "new"), MiB, 1, 5)});
  for (auto& s : b.sources) s.site.build_id = "ef";
  b.build_id = "ef";
  inputs.push_back(input("b.db", std::move(b)));
  const auto c = analyzer::compare(inputs);
  REQUIRE(c.sources.size() == 3);
  CHECK((c.sources[0].in[0] && c.sources[0].in[1]));
  CHECK((c.sources[1].in[0] && !c.sources[1].in[1]));
  CHECK((!c.sources[2].in[0] && c.sources[2].in[1]));
  const auto d = analyzer::find_differences(inputs, c);
  REQUIRE(d.size() == 2);
  CHECK(d[0].about == "site");
  CHECK(d[0].values == std::vector<std::string>{"yes", ""});
  CHECK_FALSE(analyzer::same_structure(d));
}

TEST_CASE("in one build places are told apart by their offsets, and times are no structure") {
  std::vector<analyzer::Input> inputs;
  inputs.push_back(input("a.db", analysis({source(ObjectKind::Segment, place(0x10), MiB, 1, 5),
                                           source(ObjectKind::Segment, place(0x20), MiB, 1, 7)})));
  inputs.push_back(input("b.db", analysis({source(ObjectKind::Segment, place(0x20), MiB, 1, 7),
                                           source(ObjectKind::Segment, place(0x10), MiB, 1, 5)},
                                          1000, 5)));
  inputs[1].analysis.sources[0].sums.time_ns *= 9;
  const auto d = analyzer::find_differences(inputs, analyzer::compare(inputs));
  REQUIRE(d.size() == 2);
  CHECK(d[0].about == "ratio");
  CHECK(d[1].about == "eligible");
  CHECK(analyzer::same_structure(d));
}

TEST_CASE("odd values are named, and what ganalyze writes has none") {
  auto p = analyzer::make_profile(analysis({source(ObjectKind::Segment, place(0x10), MiB, 1, 5)}));
  CHECK(analyzer::odd_values(p).empty());
  p.sites[0].typical_bytes = 1;
  p.eligible = false;
  auto b = p.sites[0];
  b.around = {{"abcd", "app", 1}};
  b.policy = "pin";
  p.sites.push_back(b);
  CHECK(analyzer::odd_values(p).size() == 4);  // the ratio, two typical sizes, the wrapper's policies
}
