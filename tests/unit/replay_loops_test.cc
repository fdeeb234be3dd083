// What makes the replay of a loop fast: calls that are kept encoded, and events that are read ahead.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "tests/unit/sample_trace.h"
#include "tracer/gtrace/replay/plain_calls.h"
#include "tracer/gtrace/replay/walk_ahead.h"

namespace gt::tracer {
namespace {

using namespace gt::testing;  // NOLINT: test code

Trace trace_of(size_t shapes) {
  Trace trace;
  trace.shapes.resize(shapes);
  return trace;
}

// An object, a number that may differ, how it ended.
PlainCall call_of(int64_t slot, int64_t number, uint64_t changes = 0) {
  PlainCall call;
  call.row = {slot, number, 0};
  call.inputs.assign(16, 0xee);
  call.numbers = {{1, 4, 8}};
  std::memcpy(call.inputs.data() + 8, &number, 4);
  call.changes = changes;
  return call;
}

int32_t number_in(const PlainCall& call) {
  int32_t number = 0;
  std::memcpy(&number, call.inputs.data() + 8, sizeof number);
  return number;
}

const PlainCall* find(PlainCalls& calls, std::vector<int64_t> row, uint64_t changes = 0) {
  return calls.find(1, row, changes);
}

TEST_CASE("a call is made again with other numbers, and with nothing else other") {
  const Trace trace = trace_of(2);
  PlainCalls calls(trace, true);
  CHECK(find(calls, {3, 5, 0}) == nullptr);
  calls.keep(1, call_of(3, 5));
  for (const int64_t number : {5, 6, -7, 5}) {
    const PlainCall* const call = find(calls, {3, number, 0});
    REQUIRE(call);
    CHECK(number_in(*call) == number);
    CHECK(call->inputs[12] == 0xee);  // what lies behind it
  }
  CHECK(find(calls, {4, 5, 0}) == nullptr);    // another object
  CHECK(find(calls, {3, 5, -5}) == nullptr);   // it failed
  CHECK(find(calls, {3, 5}) == nullptr);       // a damaged row
  CHECK(find(calls, {3, 5, 0}, 1) == nullptr);  // the name stands for something else
  CHECK(calls.find(0, std::vector<int64_t>{3, 5, 0}, 0) == nullptr);
}

TEST_CASE("calls that take turns are kept beside each other") {
  const Trace trace = trace_of(2);
  PlainCalls calls(trace, true);
  for (int64_t slot = 0; slot < 4; ++slot) calls.keep(1, call_of(slot, slot));
  for (int64_t i = 0; i < 40; ++i) {
    const PlainCall* const call = find(calls, {i % 4, i, 0});
    REQUIRE(call);
    CHECK(number_in(*call) == i);
  }
  calls.keep(1, call_of(9, 9));  // the oldest goes
  CHECK(find(calls, {9, 1, 0}));
  CHECK(find(calls, {0, 1, 0}) == nullptr);
  CHECK(find(calls, {1, 1, 0}));
}

TEST_CASE("calls that never come again are no longer kept") {
  const Trace trace = trace_of(2);
  PlainCalls calls(trace, true);
  for (int64_t slot = 0; slot < 60; ++slot) calls.keep(1, call_of(slot, 0));
  CHECK(find(calls, {59, 1, 0}));  // one of use, and all is well again
  for (int64_t slot = 100; slot < 160; ++slot) calls.keep(1, call_of(slot, 0));
  CHECK(find(calls, {159, 1, 0}));
  for (int64_t slot = 200; slot < 266; ++slot) calls.keep(1, call_of(slot, 0));
  CHECK(find(calls, {265, 0, 0}) == nullptr);
}

TEST_CASE("nothing is kept where every call is looked at") {
  const Trace trace = trace_of(2);
  PlainCalls calls(trace, false);
  CHECK(!calls.is_plain(1, ShapePlan()));
  CHECK(find(calls, {3, 5, 0}) == nullptr);
}

struct Seen {
  uint64_t number;
  ShapeId shape;
  std::vector<int64_t> values;
  bool operator==(const Seen&) const = default;
};

// Of a loop of `n` calls of two shapes; `most`: then the visitor has had enough.
std::vector<Seen> seen(Status (*walks)(const Trace&, const Stream&, const Walk&), int64_t n, size_t most = SIZE_MAX) {
  Trace trace = trace_of(2);
  for (model::Shape& s : trace.shapes) s.args.push_back({0, ArgForm::Int});
  Node first, second, loop;
  first.kind = second.kind = Node::Kind::Call;
  first.shape = 0;
  second.shape = 1;
  first.values = {affine(7, 3)};
  second.values = {periodic({1, 5, 2})};
  loop.kind = Node::Kind::Loop;
  loop.count = Series(n);
  loop.body = {first, second};
  Stream stream;
  stream.nodes = {loop};
  std::vector<Seen> out;
  Walk walk;
  walk.wanted = [](const Node&, uint64_t, uint64_t) { return true; };
  walk.visit = [&](const WalkedEvent& e) {
    out.push_back({e.number, e.shape, {e.values.begin(), e.values.end()}});
    return out.size() < most;
  };
  CHECK(walks(trace, stream, walk).ok());
  return out;
}

TEST_CASE("what is read ahead is what is read") {
  for (const int64_t n : {1, 255, 256, 257, 5000}) {
    const std::vector<Seen> all = seen(&walk_stream, n);
    CHECK(all.size() == static_cast<size_t>(2 * n));
    CHECK(seen(&walk_ahead, n) == all);
  }
}

TEST_CASE("who has seen enough is not read to any more") {
  for (const size_t most : {size_t{1}, size_t{512}, size_t{700}, size_t{4000}})
    CHECK(seen(&walk_ahead, 1'000'000, most).size() == most);
}

}  // namespace
}  // namespace gt::tracer
