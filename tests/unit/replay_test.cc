// What a replay shows of regular and irregular streams.
#include "analyzer/rules/replay.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/unit/rule_trace.h"

using namespace gt;
using namespace gt::testing;

namespace {

struct Shown {
  std::map<ShapeId, uint64_t> weight;
  std::vector<std::pair<int64_t, uint64_t>> offsets;  // of the transfers, in order, with their weights
  std::set<ClassId> forgotten;
  uint64_t steps = 0;
};

Shown replayed(const Trace& trace, uint64_t budget = analyzer::ReplayBudget) {
  Shown out;
  const analyzer::Effects effects = recorded_effects(trace);
  const analyzer::CallPlans plans(trace, effects);
  const analyzer::ReplayListener listener{
      [&](const analyzer::Step& s) {
        ++out.steps;
        out.weight[s.plan.shape] += s.weight;
        if (s.plan.offset_at != analyzer::NoValue) out.offsets.push_back({s.values[s.plan.offset_at], s.weight});
      },
      [&](std::span<const ClassId> classes) { out.forgotten.insert(classes.begin(), classes.end()); }};
  for (const Stream& s : trace.streams)
    if (!s.memory) analyzer::replay(trace, s, plans, listener, budget);
  return out;
}

struct Program : RuleTrace {
  Object host = allocate(1 << 20), b = buffer(1 << 20);
};

}  // namespace

TEST_CASE("a long regular loop is shown by few steps that stand for all its calls") {
  Program p;
  for (int i = 0; i < 100'000; ++i) p.write(p.b, p.host, 64);
  const Trace t = p.finish_trace();
  const Shown shown = replayed(t);
  CHECK(shown.steps < 30);
  for (ShapeId s = 0; s < t.shapes.size(); ++s)
    if (t.shapes[s].fn != fn(api::FnId::clCreateCommandQueue)) {
      if (t.shapes[s].fn < api::FirstAllocFn) CHECK(shown.weight.at(s) == t.stats[s].calls);
    }
  CHECK(shown.forgotten.empty());
}

TEST_CASE("periodic values keep their phase over the jump") {
  Program p;
  for (int i = 0; i < 10'000; ++i) p.write(p.b, p.host, 64, {.offset = i % 3});
  const Shown shown = replayed(p.finish_trace());
  CHECK(shown.steps < 60);
  std::map<int64_t, uint64_t> by_offset;
  for (size_t i = 0; i < shown.offsets.size(); ++i) {
    if (i > 0) CHECK(shown.offsets[i].first == (shown.offsets[i - 1].first + 1) % 3);
    by_offset[shown.offsets[i].first] += shown.offsets[i].second;
  }
  CHECK(by_offset == std::map<int64_t, uint64_t>{{0, 3334}, {1, 3333}, {2, 3333}});
}

TEST_CASE("what moves is forgotten at a jump; all iterations of a short loop are shown") {
  Program longer, shorter;
  for (int i = 0; i < 1000; ++i) longer.write(longer.b, longer.host, 64, {.offset = i * 64});
  for (int i = 0; i < 4; ++i) shorter.write(shorter.b, shorter.host, 64, {.offset = i * 64});
  CHECK(replayed(longer.finish_trace()).forgotten.count(longer.b.cls) == 1);
  const Shown shown = replayed(shorter.finish_trace());
  CHECK(shown.offsets == std::vector<std::pair<int64_t, uint64_t>>{{0, 1}, {64, 1}, {128, 1}, {192, 1}});
}

TEST_CASE("nests: weights multiply and sum up to the calls") {
  Program p;
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j < 200; ++j) p.write(p.b, p.host, 64, {.offset = j % 2 * 64});
    p.read(p.b, p.host, 64);
  }
  const Trace t = p.finish_trace();
  const Shown shown = replayed(t);
  CHECK(shown.steps < 2000);
  for (ShapeId s = 0; s < t.shapes.size(); ++s)
    if (t.shapes[s].fn < api::FirstAllocFn) CHECK(shown.weight.at(s) == t.stats[s].calls);
}

TEST_CASE("irregular values are unfolded as they are, up to the budget") {
  Program p;
  uint64_t x = 1;
  for (int i = 0; i < 1000; ++i)
    p.write(p.b, p.host, 64, {.offset = static_cast<int64_t>((x = x * 6364136223846793005u + 1) >> 40)});
  const Trace t = p.finish_trace();
  const Shown all = replayed(t), some = replayed(t, 100);
  CHECK(all.offsets.size() == 1000);
  CHECK(all.forgotten.empty());
  CHECK(some.offsets.size() > 90);
  CHECK(some.offsets.size() <= 100);
  CHECK(some.forgotten.count(p.b.cls) == 1);
}
