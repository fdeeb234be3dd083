// Reducing calls: what needs what, and the fewest of which something stays true.
#include <doctest/doctest.h>

#include <algorithm>

#include "tracer/gtrace/replay/call_reducer.h"
#include "tracer/gtrace/replay/step_channel.h"
#include "traces/model/fold/fold.h"

namespace gt::tracer {
namespace {

using model::Arg;
using model::ArgForm;
using model::Effect;
using model::ObjectKind;

// A trace of calls that make, write and use objects; which function each is does not matter here.
class Calls {
 public:
  Calls() {
    trace_.processes.emplace_back();
    trace_.threads.emplace_back();
  }
  struct Object {
    model::ClassId cls;
    Effect effect;
  };
  model::ClassId object() {
    trace_.classes.push_back({ObjectKind::Buffer, 0, model::NoIndex, 1, model::NoIndex});
    return static_cast<model::ClassId>(trace_.classes.size() - 1);
  }
  void call(std::initializer_list<Object> objects) {
    model::Shape shape;
    for (const Object& o : objects) shape.args.push_back({0, ArgForm::Object, o.effect, o.cls});
    const auto known = std::find(trace_.shapes.begin(), trace_.shapes.end(), shape);
    const auto id = static_cast<model::ShapeId>(known - trace_.shapes.begin());
    if (known == trace_.shapes.end()) {
      trace_.shapes.push_back(shape);
      trace_.stats.emplace_back();
    }
    const std::vector<int64_t> slots(objects.size(), 0);
    folder_.push(id, slots);
  }
  CallGraph graph() {
    trace_.streams = {{0, false, folder_.snapshot(), {}}};
    return *CallGraph::build(trace_, 0);
  }

 private:
  model::Trace trace_;
  model::Folder folder_;
};

std::vector<CallIndex> calls_of(const CallSet& set) {
  std::vector<CallIndex> out;
  for (CallIndex i = 0; i < set.size(); ++i) {
    if (set[i]) out.push_back(i);
  }
  return out;
}
using List = std::vector<CallIndex>;

TEST_CASE("a call needs what made and what last wrote its objects") {
  Calls calls;
  const model::ClassId a = calls.object(), b = calls.object(), other = calls.object();
  calls.call({{a, Effect::Def}});                          // 0
  calls.call({{b, Effect::Def}});                          // 1
  calls.call({{other, Effect::Def}});                      // 2
  calls.call({{a, Effect::UseDef}});                       // 3
  calls.call({{other, Effect::UseDef}, {a, Effect::Use}});  // 4
  calls.call({{a, Effect::Use}, {b, Effect::UseDef}});      // 5
  const CallGraph graph = calls.graph();
  CHECK(graph.size() == 6);
  CHECK(calls_of(graph.needed_by(5)) == List{0, 1, 3, 5});
  const CallSet all(6, true);
  CHECK(calls_of(graph.without(all, List{0})) == List{1, 2});  // with it goes what cannot be made
  CHECK(calls_of(graph.without(all, List{3})) == List{0, 1, 2, 4, 5});
  CHECK(graph.find(0, 1) == CallIndex{0});
  CHECK(!graph.find(0, 7));
  CHECK(!graph.find(1, 1));
}

TEST_CASE("iterations of a loop are known") {
  Calls calls;
  const model::ClassId a = calls.object();
  calls.call({{a, Effect::Def}});
  for (int i = 0; i < 10; ++i) {
    calls.call({{a, Effect::UseDef}});
    calls.call({{a, Effect::Use}});
  }
  const CallGraph graph = calls.graph();
  CHECK(graph.size() == 21);
  REQUIRE(graph.iterations().size() >= 9);
  for (const auto& iteration : graph.iterations()) CHECK(iteration.size() == 2);
}

struct Reduced {
  List kept;
  int tries = 0;
};

Reduced reduce(const CallGraph& graph, const List& wanted, std::optional<CallIndex> target,
               std::optional<CallIndex> near, int most = 1000) {
  Reduced out;
  const auto holds = [&](const CallSet& set) {
    ++out.tries;
    return std::all_of(wanted.begin(), wanted.end(), [&](CallIndex c) { return set[c]; });
  };
  CallReducer reducer(graph, holds, [&] { return out.tries < most; });
  reducer.reduce(target, near);
  out.kept = calls_of(reducer.kept());
  return out;
}

TEST_CASE("what nothing needs goes, what is needed stays") {
  Calls calls;
  const model::ClassId a = calls.object(), b = calls.object();
  calls.call({{a, Effect::Def}});
  calls.call({{b, Effect::Def}});
  for (int i = 0; i < 500; ++i) {
    calls.call({{a, Effect::UseDef}});
    calls.call({{b, Effect::UseDef}});
  }
  const CallGraph graph = calls.graph();
  // The slice is too small for it: call 3 is of another object.
  const Reduced found = reduce(graph, {0, 1, 3, 400}, 400, 400);
  CHECK(found.kept == List{0, 1, 3, 400});
  CHECK(found.tries < 100);
  CHECK(reduce(graph, {0, 400}, 400, 400).kept == List{0, 400});
  CHECK(reduce(graph, {1, 3, 999}, std::nullopt, 600).kept == List{1, 3, 999});  // it was none of what was near
  CHECK(reduce(graph, {}, std::nullopt, std::nullopt).kept.empty());
}

TEST_CASE("a reduction that is stopped has what it found") {
  Calls calls;
  const model::ClassId a = calls.object();
  calls.call({{a, Effect::Def}});
  for (int i = 0; i < 300; ++i) calls.call({{a, Effect::UseDef}});
  const CallGraph graph = calls.graph();
  const Reduced found = reduce(graph, {0, 50, 100}, 100, 100, 5);
  CHECK(found.tries == 5);
  CHECK(found.kept.size() < 102);
  for (const CallIndex c : {0U, 50U, 100U}) CHECK(std::count(found.kept.begin(), found.kept.end(), c) == 1);
}

TEST_CASE("what two replays say arrives as it was") {
  LaunchReport report{{3, 77}, "blur", 5, true, {}};
  report.outputs.push_back({1, "out", ElementType::Float, 4096, {1, ~uint64_t{0}}, 9, -2});
  const Bytes bytes = encode(report);
  const std::optional<LaunchReport> again = decode_launch(bytes);
  REQUIRE(again);
  CHECK(again->launch == report.launch);
  CHECK(again->kernel == "blur");
  CHECK(again->unseen);
  REQUIRE(again->outputs.size() == 1);
  CHECK(again->outputs[0].hash == report.outputs[0].hash);
  CHECK(again->outputs[0].slot == -2);
  for (size_t n = 0; n < bytes.size(); ++n) CHECK(!decode_launch(ByteView(bytes).first(n)));
  auto ends = step_channels();
  REQUIRE(ends);
  Bytes data;
  CHECK(ends->first.send(StepKind::Data, encode({{1, 2}, 3}, bytes)));
  const std::optional<StepMessage> message = ends->second.receive();
  REQUIRE(message);
  const std::optional<StepAnswer> answer = decode_answer(message->body, &data);
  REQUIRE(answer);
  CHECK(answer->argument == 3);
  CHECK(data == bytes);
  ends->first.say_no_more();
  CHECK(!ends->second.receive());
}

}  // namespace
}  // namespace gt::tracer
