// Loops whose body is a random choice: exact, and of a structure that does not grow with the loop.
#include <doctest/doctest.h>

#include "tests/unit/random_stream.h"
#include "traces/model/fold/fold.h"

using namespace gt;
using namespace gt::model;
using namespace gt::testing;

namespace {

constexpr ShapeId Head = 60, Tail = 61;

// `iterations` of: head, one of `alternatives` that make one to four calls each, tail.
Events choices(uint64_t seed, ShapeId alternatives, bool head, bool tail, int64_t iterations) {
  std::mt19937_64 random(seed);
  Events events;
  for (int64_t i = 0; i < iterations; ++i) {
    if (head) events.push_back({Head, {i}});
    const auto taken = static_cast<ShapeId>(random() % alternatives);
    for (ShapeId call = 0; call <= taken % 4; ++call) events.push_back({taken * 4 + call, {i, 7}});
    if (tail) events.push_back({Tail, {i % 2}});
  }
  return events;
}

std::vector<Node> fold(const Events& events) {
  Folder folder;
  for (const Event& e : events) folder.push(e.shape, e.values);
  return folder.snapshot();
}

bool same(const std::vector<Node>& nodes, const Events& events) {
  std::vector<int> widths(64, 2);
  widths[Head] = widths[Tail] = 1;
  size_t at = 0;
  const bool sound = expand(nodes, widths, [&](ShapeId shape, std::span<const int64_t> values) {
    const bool equal = at < events.size() && events[at].shape == shape &&
                       std::equal(values.begin(), values.end(), events[at].values.begin(), events[at].values.end());
    at += equal;
    return equal;
  });
  return sound && at == events.size();
}

size_t node_count(std::span<const Node> nodes) {
  size_t n = nodes.size();
  for (const Node& node : nodes) n += node_count(node.body);
  return n;
}

}  // namespace

TEST_CASE("a random choice among up to eight alternatives does not grow with the loop, alone or beside other calls") {
  constexpr size_t LastIteration = 40;  // may be of another form
  for (ShapeId alternatives = 2; alternatives <= 8; ++alternatives) {
    for (int form = 0; form < 4; ++form) {
      for (uint64_t seed = 0; seed < 4; ++seed) {
        CAPTURE(alternatives);
        CAPTURE(form);
        CAPTURE(seed);
        const auto program = [&](int64_t n) { return choices(seed, alternatives, form & 1, form & 2, n); };
        const Events events = program(20000);
        const std::vector<Node> nodes = fold(events);
        REQUIRE(same(nodes, events));
        CHECK(node_count(nodes) <= node_count(fold(program(5000))) + LastIteration);
      }
    }
  }
}

TEST_CASE("conditions that are independent of one another do not grow with the loop") {
  for (const ShapeId conditions : {ShapeId{4}, ShapeId{6}, ShapeId{8}, ShapeId{12}}) {
    CAPTURE(conditions);
    const auto program = [&](int64_t iterations) {
      std::mt19937_64 random(3);
      Events events;
      for (int64_t i = 0; i < iterations; ++i) {
        events.push_back({Head, {i}});
        for (ShapeId condition = 0; condition < conditions; ++condition) {
          if (random() % 2) events.push_back({condition, {i, 7}});
        }
        events.push_back({Tail, {i % 2}});
      }
      return events;
    };
    const Events events = program(30000);
    const std::vector<Node> nodes = fold(events);
    REQUIRE(same(nodes, events));
    CHECK(node_count(nodes) <= node_count(fold(program(5000))) + 40);
  }
}
