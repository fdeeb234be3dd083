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

PlainCall* find(PlainCalls& calls, const std::vector<int64_t>& row, uint64_t changes = 0, const Node* node = nullptr,
                ShapeId shape = 1) {
  WalkedEvent e;
  e.shape = shape;
  e.values = row;
  e.node = node;
  return calls.find(e, changes);
}

TEST_CASE("a call is made again with other numbers, and with nothing else other") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  CHECK(find(calls, {3, 5, 0}) == nullptr);
  calls.keep(1, arguments.call_of(3, 5));
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
  CHECK(find(calls, {3, 5, 0}, 0, nullptr, 0) == nullptr);
}

Node node_of(Series slot, Series number) {
  Node node;
  node.kind = Node::Kind::Call;
  node.shape = 1;
  node.values = {std::move(slot), std::move(number), Series(0)};
  return node;
}

TEST_CASE("two nodes' calls with the same arguments, but for numbers, do not get each other's") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  calls.keep(1, arguments.call_of(3, 5));
  const Node counts = node_of(Series(3), affine(7, 3)), same = node_of(Series(3), Series(11));
  for (int64_t i = 0; i < 5; ++i) {
    const PlainCall* call = find(calls, {3, 7 + 3 * i, 0}, 0, &counts);
    REQUIRE(call);
    CHECK(number_in(*call) == 7 + 3 * i);
    call = find(calls, {3, 11, 0}, 0, &same);
    REQUIRE(call);
    CHECK(number_in(*call) == 11);
    CHECK(call->row[1] == 11);
  }
  CHECK(find(calls, {3, 7, 0}, 1, &counts) == nullptr);
}

TEST_CASE("a node whose objects vary is compared each time") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  calls.keep(1, arguments.call_of(3, 5));
  calls.keep(1, arguments.call_of(4, 5));
  const Node swaps = node_of(periodic({3, 4}), affine(0, 1));
  for (int64_t i = 0; i < 6; ++i) {
    const PlainCall* const call = find(calls, {3 + i % 2, i, 0}, 0, &swaps);
    REQUIRE(call);
    CHECK(call->row == std::vector<int64_t>{3 + i % 2, i, 0});
  }
  CHECK(find(calls, {5, 0, 0}, 0, &swaps) == nullptr);
}

TEST_CASE("what a node is known by goes with its call") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  calls.keep(1, arguments.call_of(3, 5));
  const Node counts = node_of(Series(3), affine(7, 3));
  CHECK(find(calls, {3, 7, 0}, 0, &counts));
  for (int64_t slot = 10; slot < 14; ++slot) calls.keep(1, arguments.call_of(slot, 5));  // the first has gone
  CHECK(find(calls, {3, 10, 0}, 0, &counts) == nullptr);
}

TEST_CASE("calls that take turns are kept beside each other") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  for (int64_t slot = 0; slot < 4; ++slot) calls.keep(1, arguments.call_of(slot, slot));
  for (int64_t i = 0; i < 40; ++i) {
    const PlainCall* const call = find(calls, {i % 4, i, 0});
    REQUIRE(call);
    CHECK(number_in(*call) == i);
  }
  calls.keep(1, arguments.call_of(9, 9));  // the oldest goes
  CHECK(find(calls, {9, 1, 0}));
  CHECK(find(calls, {0, 1, 0}) == nullptr);
  CHECK(find(calls, {1, 1, 0}));
}

TEST_CASE("calls that never come again are no longer kept") {
  const Trace trace = trace_of(2);
  Arguments arguments;
  PlainCalls calls(trace, true);
  for (int64_t slot = 0; slot < 60; ++slot) calls.keep(1, arguments.call_of(slot, 0));
  CHECK(find(calls, {59, 1, 0}));  // one of use, and all is well again
  for (int64_t slot = 100; slot < 160; ++slot) calls.keep(1, arguments.call_of(slot, 0));
  CHECK(find(calls, {159, 1, 0}));
  for (int64_t slot = 200; slot < 266; ++slot) calls.keep(1, arguments.call_of(slot, 0));
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
