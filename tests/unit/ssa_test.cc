// Names and versions over folded traces.
#include "traces/model/ssa/ssa.h"

#include <doctest/doctest.h>

#include "tests/unit/sample_trace.h"

using namespace gt::testing;

namespace {

std::string uses(const Trace& t, const Ssa& ssa, size_t stream, size_t index, const Node& node, size_t depth = 0) {
  (void)t;
  std::string out;
  for (const SsaRef& r : ssa.at(stream, index).uses) out += (out.empty() ? "" : " ") + ssa.text(r, node, depth);
  return out;
}
std::string defs(const Ssa& ssa, size_t stream, size_t index, const Node& node, size_t depth = 0) {
  std::string out;
  for (const SsaRef& r : ssa.at(stream, index).defs) out += (out.empty() ? "" : " ") + ssa.text(r, node, depth);
  return out;
}
std::string phis(const Ssa& ssa, size_t stream, size_t index) {
  std::string out;
  for (const SsaPhi& p : ssa.at(stream, index).phis) {
    out += (out.empty() ? "" : " ") + ssa.text(p.variable, p.result) + "=φ(" + ssa.text(p.variable, p.before) + "," +
           ssa.text(p.variable, p.around) + ")";
  }
  return out;
}

}  // namespace

TEST_CASE("the paper's loop") {
  const Trace t = paper_loop(1000);
  const Ssa ssa(t);
  const auto& nodes = t.streams[1].nodes;
  REQUIRE(ssa.node_count(1) == 8);
  CHECK(defs(ssa, 1, 0, nodes[0]) == "q0.1");
  CHECK(defs(ssa, 1, 1, nodes[1]) == "b0.1");
  CHECK(defs(ssa, 1, 2, nodes[2]) == "k0:vadd.1");
  CHECK(uses(t, ssa, 1, 3, nodes[3]) == "q0.1 b0.1 s0.1");
  CHECK(defs(ssa, 1, 3, nodes[3]) == "b0.2");
  // The loop carries the buffer (write keeps what it does not overwrite) and the segment that the read fills.
  CHECK(phis(ssa, 1, 4) == "b0.3=φ(b0.2,b0.5) s0.2=φ(s0.1,s0.3)");
  const auto& body = nodes[4].body;
  CHECK(uses(t, ssa, 1, 5, body[0], 1) == "q0.1 b0.3 s0.2");
  CHECK(defs(ssa, 1, 5, body[0], 1) == "b0.4");
  CHECK(uses(t, ssa, 1, 6, body[1], 1) == "q0.1 k0:vadd.1 b0.4");
  CHECK(defs(ssa, 1, 6, body[1], 1) == "b0.5");
  CHECK(uses(t, ssa, 1, 7, body[2], 1) == "q0.1 b0.5 s0.2");
  CHECK(defs(ssa, 1, 7, body[2], 1) == "s0.3");
}

TEST_CASE("what a body writes before it reads needs no φ") {
  TraceBuilder b;
  const SiteId at = b.site(1);
  const ClassId buffer = b.cls(ObjectKind::Buffer, 1, at);
  const ShapeId create = b.shape(1, at, {{ParamReturn, ArgForm::Object, Effect::Def, buffer}});
  const ShapeId use = b.shape(2, at, {{0, ArgForm::Object, Effect::Use, buffer}});
  b.trace.streams.push_back({0, false, {}, {}});
  b.trace.streams[0].nodes = {TraceBuilder::loop(
      Series(5), {TraceBuilder::call(create, {Series(0)}), TraceBuilder::call(use, {Series(0)})})};
  const Ssa ssa(b.trace);
  CHECK(phis(ssa, 0, 0).empty());
  CHECK(uses(b.trace, ssa, 0, 2, b.trace.streams[0].nodes[0].body[1], 1) == "b0.1");
}

TEST_CASE("members of a class that loops walk over are a family") {
  TraceBuilder b;
  const SiteId at = b.site(1);
  const ClassId buffer = b.cls(ObjectKind::Buffer, 1, at);
  const ShapeId create = b.shape(1, at, {{ParamReturn, ArgForm::Object, Effect::Def, buffer}});
  const ShapeId use = b.shape(2, at, {{0, ArgForm::Object, Effect::Use, buffer}});
  const ShapeId both = b.shape(
      3, at,
      {{0, ArgForm::Object, Effect::UseDef, buffer}, {1, ArgForm::Object, Effect::UseDef, buffer}});
  b.trace.streams.push_back({0, false, {}, {}});
  auto& nodes = b.trace.streams[0].nodes;
  nodes.push_back(TraceBuilder::loop(Series(100), {TraceBuilder::call(create, {affine(0, 1)})}));
  nodes.push_back(TraceBuilder::loop(Series(50), {TraceBuilder::call(use, {affine(99, -2)})}));
  nodes.push_back(TraceBuilder::call(use, {Series(7)}));
  nodes.push_back(TraceBuilder::call(both, {Series(1), Series(2)}));
  nodes.push_back(TraceBuilder::call(both, {Series(1), Series(1)}));
  const Ssa ssa(b.trace);
  CHECK(phis(ssa, 0, 0) == "b0.1=φ(b0.0,b0.2)");
  CHECK(defs(ssa, 0, 1, nodes[0].body[0], 1) == "b0.2[i]");
  CHECK(uses(b.trace, ssa, 0, 1, nodes[0].body[0], 1).empty());  // the rest of the array is kept, not read
  CHECK(uses(b.trace, ssa, 0, 3, nodes[1].body[0], 1) == "b0.2[-2i+99]");
  CHECK(uses(b.trace, ssa, 0, 4, nodes[2]) == "b0.2[7]");
  CHECK(uses(b.trace, ssa, 0, 5, nodes[3]) == "b0.2[1] b0.2[2]");
  CHECK(defs(ssa, 0, 5, nodes[3]) == "b0.3[1] b0.3[2]");
  CHECK(defs(ssa, 0, 6, nodes[4]) == "b0.4[1]");
}

TEST_CASE("ping-pong buffers are named one by one") {
  TraceBuilder b;
  const SiteId at = b.site(1);
  const ClassId buffer = b.cls(ObjectKind::Buffer, 1, at);
  const ShapeId step = b.shape(
      2, at,
      {{0, ArgForm::Object, Effect::Use, buffer}, {1, ArgForm::Object, Effect::UseDef, buffer}});
  b.trace.streams.push_back({0, false, {}, {}});
  auto& nodes = b.trace.streams[0].nodes;
  nodes.push_back(TraceBuilder::loop(Series(100), {TraceBuilder::call(step, {periodic({0, 1}), periodic({1, 0})})}));
  const Ssa ssa(b.trace);
  CHECK(ssa.names().text(buffer, periodic({0, 1}), 1) == "b0|b1");
  CHECK(uses(b.trace, ssa, 0, 1, nodes[0].body[0], 1) == "b0.1 b1.1");
  CHECK(defs(ssa, 0, 1, nodes[0].body[0], 1) == "b1.2 b0.2");
  CHECK(phis(ssa, 0, 0) == "b0.1=φ(b0.0,b0.2) b1.1=φ(b1.0,b1.2)");
}

TEST_CASE("nested loops carry through each other") {
  TraceBuilder b;
  const SiteId at = b.site(1);
  const ClassId buffer = b.cls(ObjectKind::Buffer, 1, at);
  const ShapeId step = b.shape(2, at, {{0, ArgForm::Object, Effect::UseDef, buffer}});
  b.trace.streams.push_back({0, false, {}, {}});
  auto& nodes = b.trace.streams[0].nodes;
  std::vector<Node> body;
  body.push_back(TraceBuilder::loop(Series(3), {TraceBuilder::call(step, {Series(0)})}));
  nodes.push_back(TraceBuilder::loop(Series(5), std::move(body)));
  nodes.push_back(TraceBuilder::call(step, {Series(0)}));
  const Ssa ssa(b.trace);
  CHECK(phis(ssa, 0, 0) == "b0.1=φ(b0.0,b0.3)");
  CHECK(phis(ssa, 0, 1) == "b0.2=φ(b0.1,b0.3)");
  CHECK(uses(b.trace, ssa, 0, 3, nodes[1]) == "b0.3");
}

TEST_CASE("series as text") {
  CHECK(series_text(Series(7), 0) == "7");
  CHECK(series_text(affine(16, 64), 1) == "64i+16");
  CHECK(series_text(affine(-1, 1), 1) == "i-1");
  CHECK(series_text(affine(0, -1), 2) == "-j");
  const Series nested = make_affine(affine(0, 10), Series(1));
  CHECK(series_text(nested, 2) == "j+10i");
  CHECK(series_text(periodic({0, 1}), 1) == "{0,1}");
  CHECK(series_text(column({1, 5, 2}), 1) == "…");
}
