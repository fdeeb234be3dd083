// Sets of calls, selections, walks with times, alignment, differences, sums by object, trees: on traces made by hand.
#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/unit/sample_trace.h"
#include "traces/model/fold/run.h"
#include "tracer/gtrace/compare/align.h"
#include "tracer/gtrace/compare/diff.h"
#include "tracer/gtrace/export/export.h"
#include "tracer/gtrace/base/selection.h"
#include "tracer/gtrace/show/show.h"
#include "tracer/gtrace/stats/stats_sections.h"
#include "tracer/gtrace/base/walk.h"

using namespace gt;
using namespace gt::testing;
using namespace gt::tracer;

namespace {

CallSet set(std::string_view text) {
  Result<CallSet> s = CallSet::parse(text);
  REQUIRE(s.ok());
  return *s;
}

// The k-th call of the OpenCL stream is entered at 1000 k ns and takes 500; commands run 100 ns later, for 50.
Trace timed_loop(int64_t n) {
  Trace t = paper_loop(n);
  static DeviceClock clock;
  static const bool settled = (clock.add(1000, 1000, 1000, 1000), clock.settle(), true);
  REQUIRE(settled);
  TimelineBuilder calls, memory;
  for (uint64_t k = 1; k <= static_cast<uint64_t>(4 + 3 * n); ++k) {
    calls.add_event(1000 * k, 500);
    if (k < 4) continue;
    calls.expect_command();
    calls.add_command(k - 1, &clock, 1000 * k + 100, 50);
  }
  memory.add_event(10, {});
  memory.add_event(20, {});
  t.streams[0].timeline = memory.encode();
  t.streams[1].timeline = calls.encode();
  return t;
}

std::string exported(const Trace& t, ExportOptions options, Exported* done = nullptr) {
  const std::string path = "/tmp/gt_export_" + std::to_string(::getpid());
  {
    auto out = Output::to_file(path);
    REQUIRE(out.ok());
    const Result<Exported> result = export_trace(t, options, **out);
    REQUIRE(result.ok());
    if (done) *done = *result;
    CHECK((*out)->finish() == 0);
  }
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  ::unlink(path.c_str());
  return text;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace

TEST_CASE("sets of calls") {
  CHECK(set("").everything());
  CHECK(set("17").has(false, 17));
  CHECK(!set("17").has(true, 17));
  CHECK(set("m17").has(true, 17));
  CHECK(set("#3-5").has(false, 4));
  CHECK(set("0-100/2").has(false, 100));
  CHECK(!set("0-100/2").has(false, 99));
  CHECK(set("5-").has(false, UINT64_MAX));
  CHECK(set("clEnqueue*,malloc").has_name("clEnqueueCopyBuffer"));
  CHECK(!set("clEnqueue*,malloc").has_name("clFinish"));
  CHECK(set("operator new*").has_name("operator new[]"));
  CHECK(set("1-10/3").meets(false, 5, 7));
  CHECK(!set("1-10/3").meets(false, 5, 6));
  CHECK(set("1-10,m50").last(false) == 10);
  CHECK(set("1-10,m50").last(true) == 50);
  CHECK(set("1,clFinish").last(false) == UINT64_MAX);
  for (const char* bad : {",", "5-3", "1-2-3", "5x", "0-9/0", "a b", "@/nonexistent/file", "99999999999999999999"}) {
    CHECK_MESSAGE(!CallSet::parse(bad).ok(), bad);
  }
  const std::string path = "/tmp/gt_set_" + std::to_string(::getpid());
  std::ofstream(path) << "3\n\n  clFinish \nm7-9\n";
  CHECK(set("@" + path).has(false, 3));
  CHECK(set("1,@" + path).has(true, 8));
  CHECK(set("@" + path).has_name("clFinish"));
  ::unlink(path.c_str());
}

TEST_CASE("times as users write them") {
  CHECK(*parse_time("1.5s") == 1'500'000'000);
  CHECK(*parse_time("2") == 2'000'000'000);
  CHECK(*parse_time("30us") == 30'000);
  CHECK(*parse_time("7ns") == 7);
  for (const char* bad : {"", "s", "-1s", "1h", "1e300s", "nan"}) CHECK_MESSAGE(!parse_time(bad).ok(), bad);
}

TEST_CASE("a walk skips what is not wanted, and keeps numbers and times in step") {
  const Trace t = timed_loop(1000);
  std::vector<uint64_t> numbers;
  Walk walk;
  walk.wanted = [](const Node& n, uint64_t, uint64_t) { return n.kind == Node::Kind::Loop; };
  walk.visit = [&](const WalkedEvent& e) {
    numbers.push_back(e.number);
    CHECK(e.time->entry_ns == 1000 * e.number);
    CHECK(e.command->start_ns == 1000 * e.number + 100);
    return e.number < 100;
  };
  CHECK(walk_stream(t, t.streams[1], walk).ok());
  REQUIRE(numbers.size() == 96);
  CHECK(numbers.front() == 5);

  Trace cut = t;
  cut.streams[1].timeline = t.streams[0].timeline;  // too short
  walk.visit = [](const WalkedEvent&) { return true; };
  CHECK(walk_stream(cut, cut.streams[1], walk).kind() == Kind::Corrupt);
}

TEST_CASE("selections know objects by their printed names") {
  const Trace t = paper_loop(10);
  const ObjectNames names(t);
  Selection selection;
  for (const char* known : {"b0", "q0", "k0", "k0:vadd", "s0"}) {
    selection.object = known;
    CHECK_MESSAGE(Selector::make(t, names, selection).ok(), known);
  }
  selection.object = "b7";
  CHECK(Selector::make(t, names, selection).status().kind() == Kind::Invalid);
  CHECK(!find_thread(t, 5).ok());
}

TEST_CASE("show: filters and the tree") {
  const Trace t = paper_loop(1000);
  const Ssa ssa(t);
  const auto calls = [&](const ShowOptions& options) {
    std::vector<std::string> out;
    for (const ShowRow& r : show_rows(t, ssa, 1, options)) {
      if (!r.structure) out.push_back(r.number);
    }
    return out;
  };
  using Numbers = std::vector<std::string>;
  ShowOptions o;
  o.selection.calls = set("2-3");
  CHECK(calls(o) == Numbers{"2", "3"});
  o.selection.calls = set("clCreate*");
  CHECK(calls(o) == Numbers{"1", "2", "3"});
  o = {};
  o.selection.object = "k0";
  CHECK(calls(o) == Numbers{"3", "6"});
  o = {};
  o.site = "app+0x1[56]*";
  CHECK(calls(o) == Numbers{"4", "5", "6"});
  o = {};
  o.time_min_ns = 2'000'000;
  CHECK(calls(o) == Numbers{"7"});
  o = {};
  o.tree = true;
  const std::vector<ShowRow> tree = show_rows(t, ssa, 1, o);
  REQUIRE(tree.size() == 8);
  CHECK(tree[4].call == "loop ×1000");
  CHECK(tree[4].calls == 3000);
  CHECK(tree[5].depth == 1);
  CHECK(tree[4].host_ns == doctest::Approx(tree[5].host_ns + tree[6].host_ns + tree[7].host_ns));
}

TEST_CASE("alignment finds what two sequences share") {
  using Keys = std::vector<uint64_t>;
  using Pairs = std::vector<std::pair<size_t, size_t>>;
  CHECK(align(Keys{}, Keys{}).empty());
  CHECK(align(Keys{1}, Keys{}).empty());
  CHECK(align(Keys{1, 2, 3}, Keys{1, 2, 3}) == Pairs{{0, 0}, {1, 1}, {2, 2}});
  CHECK(align(Keys{1, 2, 3, 4}, Keys{1, 9, 3, 4, 5}) == Pairs{{0, 0}, {2, 2}, {3, 3}});
  CHECK(align(Keys{1, 2}, Keys{7, 8, 1, 2}) == Pairs{{0, 2}, {1, 3}});
  uint64_t random = 1;
  for (int round = 0; round < 200; ++round) {
    Keys a, b;
    for (int i = 0; i < 30; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      (random >> 63 ? a : b).push_back((random >> 40) % 5);
    }
    // Against the plain quadratic algorithm.
    std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
    for (size_t i = 1; i <= a.size(); ++i) {
      for (size_t j = 1; j <= b.size(); ++j) {
        best[i][j] = a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
      }
    }
    const Pairs pairs = align(a, b);
    CHECK(pairs.size() == best[a.size()][b.size()]);
    for (size_t k = 0; k < pairs.size(); ++k) {
      CHECK(a[pairs[k].first] == b[pairs[k].second]);
      if (k > 0) CHECK((pairs[k].first > pairs[k - 1].first && pairs[k].second > pairs[k - 1].second));
    }
  }
  Keys far_a, far_b;  // nothing in common but one key, and more edits than are tried
  for (uint64_t i = 0; i < 5000; ++i) {
    far_a.push_back(i);
    far_b.push_back(i + 100'000);
  }
  far_a[10] = far_b[20] = 77;
  CHECK(align(far_a, far_b) == Pairs{{10, 20}});
}

TEST_CASE("differences: nothing, trip counts, arguments, calls on one side") {
  const Trace a = paper_loop(1000);
  CHECK(compare_structure(a, paper_loop(1000)).empty());

  const auto counts = compare_structure(a, paper_loop(2000));
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].kind == Difference::Kind::TripCount);
  CHECK(counts[0].number == "5");
  CHECK(counts[0].a == "1000");
  CHECK(counts[0].b == "2000");

  Trace b = paper_loop(1000);
  b.streams[1].nodes[1].values[1] = Series(8192);
  const auto argument = compare_structure(a, b);
  REQUIRE(argument.size() == 1);
  CHECK(argument[0].kind == Difference::Kind::Argument);
  CHECK(argument[0].argument == "size");
  CHECK(argument[0].a == "4096");
  CHECK(argument[0].b == "8192");

  b = paper_loop(1000);
  b.streams[1].nodes[4].body.erase(b.streams[1].nodes[4].body.begin() + 1);  // the launch
  b.streams[1].nodes.erase(b.streams[1].nodes.begin() + 2);
  const auto missing = compare_structure(a, b);
  REQUIRE(missing.size() == 2);
  CHECK(missing[0].kind == Difference::Kind::OnlyA);
  CHECK(missing[0].what == "clCreateKernel @ app+0x1400");
  CHECK(missing[1].what == "clEnqueueNDRangeKernel @ app+0x1600");
  const auto other_way = compare_structure(b, a);
  REQUIRE(other_way.size() == 2);
  CHECK(other_way[0].kind == Difference::Kind::OnlyB);

  b = paper_loop(1000);  // another build: places mean nothing, functions do
  b.modules[0].build_id = "deadbeef";
  for (Site& s : b.sites) s.offset += 0x40;
  CHECK(compare_structure(a, b).empty());
  b.modules[0].build_id = a.modules[0].build_id;
  CHECK(!compare_structure(a, b).empty());

  b = paper_loop(1000);
  b.streams.erase(b.streams.begin());
  const auto streams = compare_structure(a, b);
  REQUIRE(streams.size() == 1);
  CHECK(streams[0].memory);
}

TEST_CASE("differences of times come by name, the largest change first") {
  const TimeChanges c = compare_times(paper_loop(1000), paper_loop(3000));
  REQUIRE(!c.functions.empty());
  CHECK(c.functions[0].name == "clEnqueueReadBuffer");
  CHECK(c.functions[0].ratio() == doctest::Approx(3));
  CHECK(c.kernels[0].a_count == 1000);
  CHECK(c.kernels[0].b_count == 3000);
  CHECK(c.transfers.size() == 2);
  CHECK(c.allocations[0].name == "malloc @ app+0x1100");
}

TEST_CASE("sums by object") {
  const std::vector<ObjectSum> objects = object_sums(paper_loop(1000));
  REQUIRE(objects.size() == 2);
  for (const ObjectSum& o : objects) {
    CHECK(o.h2d_bytes == 4'096'000);
    CHECK(o.d2h_bytes == 4'096'000);
    CHECK(o.transfers == 2001);
  }
  const ObjectSum& buffer = objects[0].name == "b0" ? objects[0] : objects[1];
  CHECK(buffer.name == "b0");
  CHECK(buffer.kind == "buffer");
  CHECK(buffer.site == "app+0x1300");
  CHECK(buffer.launches == 1000);
}

TEST_CASE("a map names the memory under its buffer twice, and moves it once") {
  TraceBuilder b;
  const auto create = fn(api::FnId::clCreateBuffer), map = fn(api::FnId::clEnqueueMapBuffer);
  const ClassId buffer = b.cls(ObjectKind::Buffer, create, b.site(1));
  const ClassId memory = b.cls(ObjectKind::Segment, static_cast<model::FnId>(api::AllocFn::Malloc), b.site(2));
  const ShapeId s = b.shape(map, b.site(3),
                            {{1, ArgForm::Object, Effect::Use, buffer},
                             {ParamReturn, ArgForm::Memory, Effect::None, memory},
                             {ParamImplied, ArgForm::Object, Effect::UseDef, memory}});
  b.trace.shapes[s].moves = Direction::DeviceToHost;
  b.cost(s, 20, 1000, 100, 4096);
  const Series zero(0);
  std::vector<Node> twice = {TraceBuilder::loop(Series(10), {TraceBuilder::call(s, {zero, zero, zero, zero})})};
  RunBuilder run;
  for (int i = 0; i < 10; ++i) run.append(s, std::vector<int64_t>{0, 0, 0, 0});
  twice.push_back(run.node());
  b.trace.streams.push_back({0, false, std::move(twice), {}});
  const std::vector<ObjectSum> objects = object_sums(b.trace);
  REQUIRE(objects.size() == 2);
  for (const ObjectSum& o : objects) {
    CHECK(o.transfers == 20);
    CHECK(o.bytes() == 20 * 4096);
  }
}

TEST_CASE("sections have a name each, and a cell for each column") {
  const Trace t = paper_loop(10);
  const auto sections = stats_sections(t, summarize(t));
  REQUIRE(sections.size() == std::size(StatsSectionNames));
  for (size_t i = 0; i < sections.size(); ++i) {
    CHECK(sections[i].name == StatsSectionNames[i]);
    for (const auto& row : sections[i].rows) CHECK(row.size() == sections[i].columns.size());
    CHECK((sections[i].total.empty() || sections[i].total.size() == sections[i].columns.size()));
  }
}

TEST_CASE("callbacks are neither OpenCL nor memory calls") {
  Trace t = paper_loop(10);
  t.shapes.push_back({static_cast<model::FnId>(api::CallbackFn::Event), NoIndex, 0, false, {}});
  t.stats.emplace_back();
  t.stats.back().calls = 5;
  const Summary s = summarize(t);
  CHECK(s.calls == 34);
  CHECK(s.memory_calls == 2);
  CHECK(s.callback_calls == 5);
  REQUIRE(s.callbacks.size() == 1);
  CHECK(s.callbacks[0].name == "event callback");
}

TEST_CASE("export: rows, ranges, and a limit that is told") {
  const Trace t = timed_loop(100);
  ExportOptions o;
  o.format = ExportFormat::Csv;
  CHECK(lines(exported(t, o)).size() == 1 + 304 + 2);
  o.selection.memory = false;
  o.from_ns = 10'000;
  o.to_ns = 20'000;
  const auto rows = lines(exported(t, o));
  REQUIRE(rows.size() == 1 + 10);
  CHECK(rows[1].starts_with("4711,0,opencl,10,clEnqueueReadBuffer,10000,500,10100,50,"));
  CHECK(rows[1].find(",ReadBuffer,q0,d2h,4096,app+0x1700,") != std::string::npos);
  o.selection.calls = set("12");
  CHECK(lines(exported(t, o)).size() == 2);

  o = {};
  o.format = ExportFormat::Json;
  const auto json = nlohmann::json::parse(exported(t, o));
  REQUIRE(json.size() == 306);
  CHECK(json[0]["entry_ns"] == 1000);
  CHECK(json[303]["device_ns"] == 50);
  CHECK(nlohmann::json::parse(exported(paper_loop(3), o)).size() == 15);  // needs no times

  o.format = ExportFormat::Chrome;
  o.limit_bytes = 20'000;
  Exported done;
  const std::string chrome = exported(t, o, &done);
  CHECK(chrome.size() < 25'000);
  CHECK(done.left_out > 0);
  CHECK(done.calls + done.left_out == 306);
  CHECK(done.left_from_ns > 0);
  CHECK(nlohmann::json::accept(chrome));
}

TEST_CASE("export: a file is whole after every flush, not only at the end") {
  const std::string path = "/tmp/gt_whole_" + std::to_string(::getpid());
  auto out = Output::to_file(path);
  REQUIRE(out.ok());
  (*out)->set_tail("]");
  (*out)->write("[0");
  for (int i = 0; i < 100'000; ++i) (*out)->write(",1");
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(text.size() > 60'000);
  CHECK(nlohmann::json::accept(text));
  CHECK((*out)->finish() == 0);
  ::unlink(path.c_str());
}

TEST_CASE("export without times is refused where times are needed") {
  Output out;
  CHECK(export_trace(paper_loop(3), {}, out).status().kind() == Kind::Corrupt);
}
