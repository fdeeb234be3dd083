// The data-flow graph, the folded timeline and the page, of traces whose answers are known.
#include "analyzer/flow/flows.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "analyzer/calls/call_use.h"
#include "analyzer/flow/folded_timeline.h"
#include "analyzer/html/page.h"
#include "analyzer/report/flow_json.h"
#include "tests/unit/sample_trace.h"
#include "traces/model/folded/executions.h"

using namespace gt;
using analyzer::FlowNode;
using analyzer::TimelineBlock;
using testing::TraceBuilder;

namespace {

analyzer::Flows flows_of(const model::Trace& trace,
                         const std::vector<analyzer::KernelFacts>& kernels = {}) {
  analyzer::CallSites sites;
  const auto sources = analyzer::find_transfer_sources(trace, sites);
  return analyzer::find_flows(trace, sites, sources, kernels);
}

std::vector<const FlowNode*> nodes_of(const analyzer::Flows& f, FlowNode::Kind kind) {
  std::vector<const FlowNode*> out;
  for (const FlowNode& n : f.nodes)
    if (n.kind == kind) out.push_back(&n);
  return out;
}

const analyzer::FlowEdge* edge(const analyzer::Flows& f, FlowNode::Kind from, FlowNode::Kind to) {
  for (const analyzer::FlowEdge& e : f.edges)
    if (f.nodes[e.from].kind == from && f.nodes[e.to].kind == to) return &e;
  return nullptr;
}

// n times { copy of a buffer, slots as given }.
model::Trace copies(model::Series from, model::Series to, int64_t n) {
  using F = model::ArgForm;
  using E = model::Effect;
  TraceBuilder b;
  const auto buffer = b.cls(model::ObjectKind::Buffer, testing::fn(api::FnId::clCreateBuffer), b.site(1));
  const auto copy = b.shape(testing::fn(api::FnId::clEnqueueCopyBuffer), b.site(2),
                            {{1, F::Object, E::Use, buffer}, {2, F::Object, E::UseDef, buffer}});
  b.cost(copy, static_cast<uint64_t>(n), 10, 20, 100);
  model::Stream s{0, false, {}, {}};
  s.nodes.push_back(TraceBuilder::loop(
      model::Series(n), {TraceBuilder::call(copy, {std::move(from), std::move(to)})}));
  b.trace.streams.push_back(std::move(s));
  return std::move(b.trace);
}

}  // namespace

TEST_CASE("executions of nested loops") {
  std::vector<model::Node> inner = {TraceBuilder::call(0, {})};
  std::vector<model::Node> body = {TraceBuilder::call(1, {}),
                                   TraceBuilder::loop(testing::periodic({3, 5}), std::move(inner))};
  const std::vector<model::Node> nodes = {TraceBuilder::loop(model::Series(1000), std::move(body)),
                                          TraceBuilder::call(2, {})};
  std::vector<std::array<uint64_t, 3>> seen;
  model::visit_executions(nodes, [&](const model::Node&, const model::Execution& e) {
    seen.push_back({e.depth, e.entered, e.times});
  });
  const std::vector<std::array<uint64_t, 3>> expected = {
      {0, 1, 1000}, {1, 1000, 1000}, {1, 1000, 4000}, {2, 4000, 4000}, {0, 1, 1}};
  CHECK(seen == expected);
}

TEST_CASE("the loop of the paper: allocation, write, buffer, kernel, read, allocation") {
  const auto trace = testing::paper_loop(1000);
  const auto f = flows_of(trace);
  REQUIRE(nodes_of(f, FlowNode::Kind::HostMemory).size() == 1);
  CHECK(nodes_of(f, FlowNode::Kind::HostMemory)[0]->bytes == 2000 * 4096);
  REQUIRE(nodes_of(f, FlowNode::Kind::Transfer).size() == 2);
  const auto* memory = nodes_of(f, FlowNode::Kind::DeviceMemory)[0];
  CHECK(memory->bytes == 4096);  // from the size that the create call gave
  CHECK(memory->count == 1);
  const auto* kernel = nodes_of(f, FlowNode::Kind::Kernel)[0];
  CHECK(kernel->name == "vadd");
  CHECK(kernel->count == 1000);
  CHECK(kernel->time_ns == 1000 * 20000);
  const auto* used = edge(f, FlowNode::Kind::DeviceMemory, FlowNode::Kind::Kernel);
  REQUIRE(used);
  CHECK(used->bytes == 1000 * 4096);
  CHECK(edge(f, FlowNode::Kind::Kernel, FlowNode::Kind::DeviceMemory));
}

TEST_CASE("what a kernel does with its arguments decides the edges") {
  const auto trace = testing::paper_loop(10);
  analyzer::KernelFacts facts;
  facts.name = "vadd";
  facts.classes = {trace.kernels[0].cls};
  facts.args.push_back({"x", "", kernels::AddressSpace::Global, kernels::Access::Write});
  const auto f = flows_of(trace, {facts});
  CHECK(edge(f, FlowNode::Kind::Kernel, FlowNode::Kind::DeviceMemory));
  CHECK_FALSE(edge(f, FlowNode::Kind::DeviceMemory, FlowNode::Kind::Kernel));
  facts.args[0].access = kernels::Access::None;
  CHECK_FALSE(edge(flows_of(trace, {facts}), FlowNode::Kind::Kernel, FlowNode::Kind::DeviceMemory));
}

TEST_CASE("buffers that swap are told apart, buffers without a pattern are one node") {
  const auto swapped = flows_of(copies(testing::periodic({0, 1}), testing::periodic({1, 0}), 7));
  REQUIRE(nodes_of(swapped, FlowNode::Kind::DeviceMemory).size() == 2);
  uint64_t count = 0;
  for (const auto& e : swapped.edges) count += e.count;
  CHECK(count == 14);  // 7 into the copy, 7 out of it
  const auto mixed = flows_of(copies(testing::column({0, 3, 1, 2, 9}), model::Series(4), 5));
  const auto memory = nodes_of(mixed, FlowNode::Kind::DeviceMemory);
  REQUIRE(memory.size() == 1);
  CHECK(memory[0]->count == 0);  // several
}

TEST_CASE("transfers and failures add up to the statistics") {
  auto trace = copies(model::Series(0), model::Series(1), 10);
  trace.stats[0].failed = 4;
  const auto f = flows_of(trace);
  CHECK(nodes_of(f, FlowNode::Kind::Transfer)[0]->count == 6);
  CHECK(nodes_of(f, FlowNode::Kind::Transfer)[0]->bytes == 1000);
}

TEST_CASE("the timeline keeps order, counts and times") {
  const auto trace = testing::paper_loop(1000);
  analyzer::CallSites sites;
  const auto t = analyzer::find_timeline(trace, sites);
  REQUIRE(t.tracks.size() == 1);  // memory calls are not timed
  const auto& blocks = t.tracks[0].blocks;
  REQUIRE(blocks.size() == 8);  // four calls, the loop, three in it
  const TimelineBlock& loop = blocks[4];
  CHECK(loop.kind == TimelineBlock::Kind::Loop);
  CHECK(loop.times == 1000);
  CHECK(loop.entered == 1);
  CHECK(loop.host_ns == blocks[5].host_ns + blocks[6].host_ns + blocks[7].host_ns);
  CHECK(blocks[6].device_ns == 1000 * 20000);
  CHECK(t.queues == std::vector<std::string>{"q0"});
  CHECK(t.left_out == 0);
}

TEST_CASE("too many blocks: those that take least time are summed up") {
  auto trace = testing::paper_loop(1000);
  analyzer::CallSites sites;
  const auto all = analyzer::find_timeline(trace, sites);
  const auto few = analyzer::find_timeline(trace, sites, 3);
  CHECK(few.left_out > 0);
  uint64_t kept = 0, rest = 0, calls = 0, all_calls = 0;
  for (const TimelineBlock& b : few.tracks[0].blocks) {
    const bool is_rest = b.kind == TimelineBlock::Kind::Rest;
    (is_rest ? rest : kept) += is_rest ? b.blocks : 1;
    if (is_rest || b.kind == TimelineBlock::Kind::Call) calls += b.times;
  }
  for (const TimelineBlock& b : all.tracks[0].blocks)
    if (b.kind == TimelineBlock::Kind::Call) all_calls += b.times;
  CHECK(kept <= 3);
  CHECK(rest == few.left_out);
  CHECK(kept + rest == all.tracks[0].blocks.size());
  CHECK(calls == all_calls);
}

TEST_CASE("blocks that take the same time: as many stay as may") {
  using F = model::ArgForm;
  TraceBuilder b;
  const auto queue = b.cls(model::ObjectKind::Queue, 0, b.site(1));
  const auto finish = b.shape(testing::fn(api::FnId::clFinish), b.site(2),
                              {{0, F::Object, model::Effect::Use, queue}});
  b.cost(finish, 100, 10);
  model::Stream s{0, false, {}, {}};
  for (int i = 0; i < 100; ++i) s.nodes.push_back(TraceBuilder::call(finish, {model::Series(0)}));
  b.trace.streams.push_back(std::move(s));
  analyzer::CallSites sites;
  const auto t = analyzer::find_timeline(b.trace, sites, 40);
  CHECK(t.left_out == 60);
  CHECK(t.tracks[0].blocks.size() == 41);  // and one for the others
}

TEST_CASE("the page: data that try to be markup stay data") {
  const std::string hostile = "</script><img src=x onerror=alert(1)>&\xe2\x80\xa8@@DATA@@";
  const nlohmann::json json = {{"name", hostile}};
  const std::string page = analyzer::html::make_page(hostile, json.dump());
  CHECK(page.find("<img") == std::string::npos);
  const std::string escaped = analyzer::html::escape_json(json.dump());
  CHECK(escaped.find_first_of("<>&") == std::string::npos);
  CHECK(nlohmann::json::parse(escaped) == json);
  CHECK(page.find(escaped) != std::string::npos);
  CHECK(page.find("@@SCRIPT@@") == std::string::npos);
}
