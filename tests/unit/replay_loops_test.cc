// What makes the replay of a loop fast: calls that are prepared once.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/unit/sample_trace.h"
#include "tracer/gtrace/replay/plain_calls.h"

namespace gt::tracer {
namespace {

using namespace gt::testing;  // NOLINT: test code

Trace trace_of(size_t shapes) {
  Trace trace;
  trace.shapes.resize(shapes);
  return trace;
}

// An object, a number that may differ, how it ended.
struct Arguments {
  std::vector<std::unique_ptr<std::array<uint8_t, 8>>> of;

  PlainCall call_of(int64_t slot, int64_t number, uint64_t changes = 0) {
    of.push_back(std::make_unique<std::array<uint8_t, 8>>());
    of.back()->fill(0xee);
    PlainCall call;
    call.shape = 1;
    call.row = {slot, number, 0};
    call.numbers = {{1, 4, of.back()->data()}};
    std::memcpy(of.back()->data(), &number, 4);
    call.changes = changes;
    return call;
  }
};

int32_t number_in(const PlainCall& call) {
  int32_t number = 0;
  std::memcpy(&number, call.numbers.front().place, sizeof number);
  return number;
}

uint8_t behind_it(const PlainCall& call) { return static_cast<const uint8_t*>(call.numbers.front().place)[4]; }

PlainCall* find(PlainCalls& calls, const std::vector<int64_t>& row, uint64_t changes = 0, ShapeId shape = 1) {
  return calls.find(shape, row, changes);
}

TEST_CASE("a call is made again with other numbers, and with nothing else other") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  CHECK(find(calls, {3, 5, 0}) == nullptr);
  calls.keep(arguments.call_of(3, 5));
  for (const int64_t number : {5, 6, -7, 5}) {
    const PlainCall* const call = find(calls, {3, number, 0});
    REQUIRE(call);
    CHECK(number_in(*call) == number);
    CHECK(behind_it(*call) == 0xee);
  }
  CHECK(find(calls, {4, 5, 0}) == nullptr);    // another object
  CHECK(find(calls, {3, 5, -5}) == nullptr);   // it failed
  CHECK(find(calls, {3, 5}) == nullptr);       // a damaged row
  CHECK(find(calls, {3, 5, 0}, 1) == nullptr);  // the name stands for something else
  CHECK(find(calls, {3, 5, 0}, 0, 0) == nullptr);
}

Node node_of(Series slot, Series number) {
  Node node;
  node.kind = Node::Kind::Call;
  node.shape = 1;
  node.values = {std::move(slot), std::move(number), Series(0)};
  return node;
}

// A loop of calls, and where a reader of it stands.
struct Loop {
  std::vector<uint64_t> counters = {0};
  std::vector<NodeReader> readers;
  Rounds rounds;

  explicit Loop(const std::vector<Node>& nodes)
      : readers(readers_of(nodes, counters)), rounds(readers, counters, 1000) {}

  static std::vector<NodeReader> readers_of(const std::vector<Node>& nodes, const std::vector<uint64_t>& counters) {
    std::vector<NodeReader> out;
    for (const Node& n : nodes) {
      for (SeriesCursor& v : out.emplace_back(n, 1).values) REQUIRE(v.begin(1, counters));
    }
    return out;
  }
  void make(size_t at, const PlainStep& step) {
    REQUIRE(rounds.read(at));
    take_numbers(step);
  }
};

TEST_CASE("two calls of a loop with the same arguments, but for numbers, do not get each other's") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  calls.keep(arguments.call_of(3, 5));
  const std::vector<Node> nodes = {node_of(Series(3), affine(7, 3)), node_of(Series(3), Series(11))};
  Loop loop(nodes);
  std::vector<PlainStep> found;
  REQUIRE(calls.find_all(loop.rounds, 0, found));
  REQUIRE(found.size() == 2);
  for (int64_t i = 0; i < 5; ++i) {
    loop.make(0, found[0]);
    CHECK(number_in(*found[0].kept) == 7 + 3 * i);
    loop.make(1, found[1]);
    CHECK(number_in(*found[1].kept) == 11);
    CHECK(found[1].kept->row[1] == 11);
    loop.rounds.end_round();
  }
  CHECK(!calls.find_all(loop.rounds, 1, found));  // the name stands for something else
}

TEST_CASE("of a loop's calls only the numbers are written that vary") {
  const Trace trace = trace_of(3);
  Arguments arguments;
  PlainCalls calls(trace, true);
  calls.keep(arguments.call_of(3, 5));
  calls.keep(arguments.call_of(4, 6));
  const std::vector<Node> nodes = {node_of(Series(3), Series(8)), node_of(Series(4), affine(0, 2))};
  Loop loop(nodes);
  std::vector<PlainStep> found;
  REQUIRE(calls.find_all(loop.rounds, 0, found));
  CHECK(found[0].moving.empty());
  CHECK(number_in(*found[0].kept) == 8);  // now, and in all rounds
  REQUIRE(found[1].moving.size() == 1);
  for (int32_t i = 0; i < 3; ++i, loop.rounds.end_round()) {
    loop.make(1, found[1]);
    CHECK(number_in(*found[1].kept) == 2 * i);
  }
}

TEST_CASE("a loop in which objects vary, or that has a call which is not kept, is compared call by call") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  calls.keep(arguments.call_of(3, 5));
  calls.keep(arguments.call_of(4, 5));
  std::vector<PlainStep> found;
  CHECK(calls.find_all(Loop({node_of(Series(3), affine(0, 1))}).rounds, 0, found));
  CHECK(calls.find_all(Loop({node_of(Series(4), affine(0, 1)), node_of(Series(3), Series(0))}).rounds, 0, found));
  CHECK(!calls.find_all(Loop({node_of(periodic({3, 4}), affine(0, 1))}).rounds, 0, found));
  CHECK(!calls.find_all(Loop({node_of(Series(3), affine(0, 1)), node_of(Series(5), Series(0))}).rounds, 0, found));
}

TEST_CASE("calls that take turns are kept beside each other") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  for (int64_t slot = 0; slot < 4; ++slot) calls.keep(arguments.call_of(slot, slot));
  for (int64_t i = 0; i < 40; ++i) {
    const PlainCall* const call = find(calls, {i % 4, i, 0});
    REQUIRE(call);
    CHECK(number_in(*call) == i);
  }
  calls.keep(arguments.call_of(9, 9));  // the oldest goes
  CHECK(find(calls, {9, 1, 0}));
  CHECK(find(calls, {0, 1, 0}) == nullptr);
  CHECK(find(calls, {1, 1, 0}));
}

TEST_CASE("calls that never come again are no longer kept") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  for (int64_t slot = 0; slot < 60; ++slot) calls.keep(arguments.call_of(slot, 0));
  CHECK(find(calls, {59, 1, 0}));  // one of use, and all is well again
  for (int64_t slot = 100; slot < 160; ++slot) calls.keep(arguments.call_of(slot, 0));
  CHECK(find(calls, {159, 1, 0}));
  for (int64_t slot = 200; slot < 266; ++slot) calls.keep(arguments.call_of(slot, 0));
  CHECK(find(calls, {265, 0, 0}) == nullptr);
}

TEST_CASE("nothing is kept where every call is looked at") {
  const Trace trace = trace_of(2);
  PlainCalls calls(trace, false);
  CHECK(!calls.is_plain(1, ShapePlan()));
  CHECK(find(calls, {3, 5, 0}) == nullptr);
}

}  // namespace
}  // namespace gt::tracer
