// show, expand and stats on traces made by hand.
#include "tracer/gtrace/show/show.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/unit/sample_trace.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/show/expand.h"
#include "tracer/gtrace/base/names.h"
#include "tracer/gtrace/stats/summary.h"
#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/base/weights.h"
#include "traces/base/command.h"
#include "traces/store/trace_db.h"

using namespace gt;
using namespace gt::testing;
using namespace gt::tracer;

namespace {

// What `work` writes to standard output.
template <class Work>
std::string captured(const Work& work) {
  std::string name = "/tmp/gt_show_XXXXXX";
  const int file = ::mkstemp(name.data());
  REQUIRE(file >= 0);
  std::fflush(stdout);
  const int saved = ::dup(STDOUT_FILENO);
  ::dup2(file, STDOUT_FILENO);
  work();
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(file);
  std::ifstream in(name);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  ::unlink(name.c_str());
  return text;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<std::string> expanded(const Trace& t, const ExpandOptions& options) {
  return lines(captured([&] {
    Output out;
    CHECK(print_calls(t, options, out).ok());
    CHECK(out.finish() == ExitOk);
  }));
}

template <class... Text>
std::vector<char*> arguments(Text&... text) {
  return {text.data()..., nullptr};
}

}  // namespace

TEST_CASE("rows of the paper's loop") {
  const Trace t = paper_loop(1000);
  const Ssa ssa(t);
  const std::vector<ShowRow> rows = show_rows(t, ssa, 1, {});
  REQUIRE(rows.size() == 11);
  CHECK(rows[1].call == "clCreateBuffer(CL_MEM_READ_WRITE, 4096)");
  CHECK(rows[1].def == "b0.1");
  CHECK(rows[1].site == "app+0x1300");
  CHECK(rows[1].number == "2");
  CHECK(rows[4].call == "loop ×1000 {");
  CHECK(rows[5].use == "φ(b0.2, b0.5)");
  CHECK(rows[7].call == "  clEnqueueWriteBuffer(q0, b0, CL_TRUE, 4096, s0)");
  CHECK(rows[7].def == "b0.4");
  CHECK(rows[7].use == "q0.1, b0.3, s0.2");
  CHECK(rows[7].number == "5");
  CHECK(rows[7].count == "1000");
  CHECK(rows[7].host == "~999 us");     // 1000 of the 1001 calls of that shape
  CHECK(rows[8].call == "  clEnqueueNDRangeKernel(q0, k0:vadd, 1024, 2i+1)");
  CHECK(rows[8].device == "20.0 ms");
  CHECK(rows[9].call == "  clEnqueueReadBuffer(q0, b0, CL_TRUE, 4096, s0+64)");
  CHECK(rows[10].call == "}");
}

TEST_CASE("memory calls that feed no OpenCL call are left out unless asked for") {
  Trace t = paper_loop(10);
  t.classes.push_back({ObjectKind::Segment, 0, 0, t.classes[0].fn, NoIndex});
  t.shapes.push_back(t.shapes[0]);
  t.shapes.back().args[1].cls = static_cast<ClassId>(t.classes.size() - 1);
  t.stats.emplace_back();
  t.streams[0].nodes.push_back(TraceBuilder::loop(
      Series(3), {TraceBuilder::call(static_cast<ShapeId>(t.shapes.size() - 1), {Series(8), Series(0)})}));
  const Ssa ssa(t);
  CHECK(show_rows(t, ssa, 0, {}).size() == 2);
  ShowOptions all;
  all.all_memory = true;
  CHECK(show_rows(t, ssa, 0, all).size() == 5);
}

TEST_CASE("expand prints every call, memory calls in their places") {
  const std::vector<std::string> text = expanded(paper_loop(3), {});
  REQUIRE(text.size() == 4 + 3 * 3 + 2);
  CHECK(text[0].starts_with("T0 #1 clCreateCommandQueue(context=NULL"));
  CHECK(text[3].starts_with("T0 m1 malloc("));
  CHECK(text[4] ==
        "T0 #4 clEnqueueWriteBuffer(command_queue=q0, buffer=b0, blocking_write=CL_TRUE, size=4096, ptr=s0+0) = "
        "CL_SUCCESS  @ app+0x1500");
  CHECK(text[9].find("global_work_size=[1024, 3]") != std::string::npos);  // the second iteration of 1 + 2i
  CHECK(text.back().starts_with("T0 m2 free("));
}

TEST_CASE("expand as JSON") {
  ExpandOptions options;
  options.format = CallFormat::Json;
  const std::vector<std::string> text = expanded(paper_loop(2), options);
  REQUIRE(text.size() == 12);
  for (const std::string& line : text) CHECK(nlohmann::json::accept(line));
  const auto write = nlohmann::json::parse(text[4]);
  CHECK(write["call"] == "clEnqueueWriteBuffer");
  CHECK(write["args"]["buffer"] == "b0");
  CHECK(write["args"]["ptr"] == "s0+0");
  CHECK(write["args"]["size"] == 4096);
  CHECK(write["return"] == 0);
  CHECK(nlohmann::json::parse(text[6])["kernel_args"]["arg0"] == "b0");
}

TEST_CASE("what a call returns through a parameter takes the parameter's place") {
  TraceBuilder b;
  const ClassId platform = b.cls(ObjectKind::Platform, fn(api::FnId::clGetPlatformIDs), b.site(1));
  const ShapeId get = b.shape(fn(api::FnId::clGetPlatformIDs), 0,
                              {{ParamAllocs, ArgForm::Int},
                               {0, ArgForm::Int},
                               {1, ArgForm::Empty},
                               {2, ArgForm::Empty},
                               {1, ArgForm::Object, Effect::Use, platform},
                               {1, ArgForm::Object, Effect::Use, platform},
                               {2, ArgForm::Int},
                               {ParamReturn, ArgForm::Int}});
  b.trace.streams.push_back({0, false, {}, {}});
  b.trace.streams[0].nodes = {
      TraceBuilder::call(get, {Series(0), Series(5), Series(0), Series(1), Series(2), Series(0)})};
  CHECK(expanded(b.trace, {})[0] ==
        "T0 #1 clGetPlatformIDs(num_entries=5, platforms=[p0, p1], num_platforms=2) = CL_SUCCESS  @ app+0x1");
}

TEST_CASE("expand of one kind, and of many calls") {
  ExpandOptions options;
  options.selection.memory = false;
  CHECK(expanded(paper_loop(2), options).size() == 10);
  options.selection.thread = 1;
  CHECK(expanded(paper_loop(2), options).empty());
  Trace t = paper_loop(5000);  // many memory calls between OpenCL calls: more than the queue holds
  Node alloc = t.streams[0].nodes[0];
  t.streams[0].nodes.insert(t.streams[0].nodes.begin(), TraceBuilder::loop(Series(60'000), {alloc}));
  CHECK(expanded(t, {}).size() == 4 + 3 * 5000 + 2 + 60'000);
}

TEST_CASE("a reader that goes away ends expand quietly") {
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  ::close(pipe_ends[0]);
  const int saved = ::dup(STDOUT_FILENO);
  ::dup2(pipe_ends[1], STDOUT_FILENO);
  int status = -1;
  {
    Output out;
    CHECK(print_calls(paper_loop(1'000'000'000'000), {}, out).ok());  // would take days
    status = out.finish();
  }
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(pipe_ends[1]);
  CHECK(status == ExitOk);
}

TEST_CASE("sums") {
  const Summary s = summarize(paper_loop(1000));
  CHECK(s.calls == 3 + 1 + 3000);
  CHECK(s.memory_calls == 2);
  CHECK(s.nodes == 10);
  REQUIRE(!s.functions.empty());
  CHECK(s.functions[0].name == "clEnqueueReadBuffer");
  CHECK(s.functions[0].total_ns == 9'000'000);
  REQUIRE(s.transfers.size() == 2);
  CHECK(s.transfers[0].direction == Direction::HostToDevice);
  CHECK(s.transfers[0].size_from == 4096);
  CHECK(s.transfers[0].bytes == 4'096'000);
  CHECK(s.transfers[0].total_ns == 4'000'000);
  REQUIRE(s.kernels.size() == 1);
  CHECK(s.kernels[0].name == "vadd");
  CHECK(s.kernels[0].launches == 1000);
  REQUIRE(s.allocations.size() == 1);
  CHECK(s.allocations[0].site == "app+0x1100");
  CHECK(s.allocations[0].bytes == 4096);
}

TEST_CASE("weights multiply through loops") {
  Node call;
  call.shape = 0;
  std::vector<Node> inner, outer, top;
  inner.push_back(call);
  inner.push_back(call);
  outer.push_back(call);
  outer.push_back(TraceBuilder::loop(affine(1, 1), std::move(inner)));  // 1 + 2 + 3 + 4 iterations
  outer.push_back(call);
  top.push_back(TraceBuilder::loop(Series(4), std::move(outer)));
  top.push_back(call);
  const std::vector<Weight> w = weigh(top);
  REQUIRE(w.size() == 7);
  CHECK(w[0].executions == 4);
  CHECK(w[2].executions == 10);
  CHECK(w[3].executions == 10);
  CHECK(*w[3].number == 2);
  CHECK(w[5].executions == 4);
  CHECK(!w[5].number);                     // the inner loop's length varies
  CHECK(*w[6].number == 4 + 20 + 4 + 1);   // all calls of the loop are known
}

TEST_CASE("commands: JSON keys that others build on, and exit statuses") {
  std::string path = "/tmp/gt_show_" + std::to_string(::getpid()) + ".db";
  REQUIRE(store::write_trace(path, paper_loop(10)).ok());
  std::string stats = "stats", json = "--json", bad = "--no-such-flag", show = "show", width = "--width", word = "wide";
  auto good = arguments(stats, path, json);
  const std::string text = captured([&] { CHECK(stats_command(3, good.data()) == ExitOk); });
  const auto j = nlohmann::json::parse(text);
  for (const char* key : {"calls", "nodes", "digest", "bytes"}) CHECK(j["trace"].contains(key));
  for (const char* key : {"name", "calls", "total_ns", "failed"}) CHECK(j["functions"][0].contains(key));
  for (const char* key : {"direction", "bytes", "count", "total_ns"}) CHECK(j["transfers"][0].contains(key));
  for (const char* key : {"name", "launches", "total_ns"}) CHECK(j["kernels"][0].contains(key));
  for (const char* key : {"site", "calls", "bytes"}) CHECK(j["allocations"][0].contains(key));
  CHECK(j["overhead"]["collector_ns"] == 770);

  auto flag = arguments(stats, path, bad), value = arguments(show, path, width, word), missing = arguments(show, bad);
  CHECK(stats_command(3, flag.data()) == ExitUsage);
  CHECK(show_command(4, value.data()) == ExitUsage);
  std::ofstream(path) << "not a trace";
  CHECK(show_command(2, good.data()) == ExitInput);
  CHECK(expand_command(2, good.data()) == ExitInput);
  ::unlink(path.c_str());
  CHECK(digest_command(2, good.data()) == ExitEnvironment);
}

TEST_CASE("tables fit their width and keep their characters whole") {
  CHECK(display_width("φ(b0.1)") == 7);
  CHECK(fit("φφφφ", 3) == "φφ…");
  Table t({{"name", false, 4}, {"n", true, 0}});
  t.row({"a long name indeed", "12345"});
  const std::string text = captured([&] {
    Output out;
    t.print(out, {12, false});
  });
  CHECK(lines(text)[1] == "a lo…  12345");
}

TEST_CASE("numbers for people") {
  CHECK(human_ns(999) == "999 ns");
  CHECK(human_ns(1'240'000) == "1.24 ms");
  CHECK(human_ns(999'900) == "1.00 ms");
  CHECK(human_bytes(1536) == "1.5 KiB");
  CHECK(human_rate(4096, 4000) == "1.02 GB/s");
  CHECK(human_rate(1, 0).empty());
}

TEST_CASE("blobs print as text or as hex") {
  const auto blob = [](std::string_view s, uint64_t full) { return Blob{Bytes(s.begin(), s.end()), full}; };
  CHECK(quoted_blob(blob("a\n\"b\"", 5)) == "\"a\\n\\\"b\\\"\"");
  CHECK(quoted_blob(blob({"abc\0", 4}, 4)) == "\"abc\"");
  CHECK(quoted_blob(blob({"\x00\x01\xff", 3}, 3)) == "\"0x0001ff\"");
  CHECK(quoted_blob(blob("abc", 10)) == "\"abc… 10 bytes\"");
}
