// Folding random structured programs: exact always, of constant structure when they are regular, in flat memory.
#include <doctest/doctest.h>

#include "tests/unit/random_stream.h"
#include "traces/model/fold.h"

using namespace gt;
using namespace gt::model;
using namespace gt::testing;

namespace {

std::vector<int> widths() {
  std::vector<int> out;
  for (ShapeId s = 0; s < RandomStream::Shapes + 2; ++s) out.push_back(1 + static_cast<int>(s % 4));
  return out;
}

std::vector<Node> fold(const Events& events) {
  Folder folder;
  for (const Event& e : events) folder.push(e.shape, e.values);
  return folder.snapshot();
}

bool same(const std::vector<Node>& nodes, const Events& events) {
  size_t at = 0;
  bool equal = true;
  const bool sound = expand(nodes, widths(), [&](ShapeId shape, std::span<const int64_t> values) {
    equal = at < events.size() && events[at].shape == shape &&
            std::equal(values.begin(), values.end(), events[at].values.begin(), events[at].values.end());
    ++at;
    return equal;
  });
  return sound && equal && at == events.size();
}

size_t node_count(std::span<const Node> nodes) {
  size_t n = nodes.size();
  for (const Node& node : nodes) n += node_count(node.body);
  return n;
}

Bytes digest_of(const std::vector<Node>& nodes) {
  ByteWriter out;
  digest(nodes, [](ShapeId s) { return uint64_t{s} * 77 + 5; }, out);
  return out.take();
}

}  // namespace

TEST_CASE("three thousand random programs come back exactly") {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    const Events events = RandomStream(seed, false, 1000).run(3 + static_cast<int64_t>(seed % 40));
    const std::vector<Node> nodes = fold(events);
    REQUIRE(same(nodes, events));
    REQUIRE(event_count(nodes) == events.size());
  }
}

TEST_CASE("regular random programs have one digest at any length") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomStream program(seed, true);
    const std::vector<Node> first = fold(program.run(10));
    for (const int64_t n : {11, 1000}) {
      CAPTURE(n);
      const Events events = program.run(n);
      if (events.size() > 200000) continue;
      const std::vector<Node> nodes = fold(events);
      REQUIRE(same(nodes, events));
      CHECK(node_count(nodes) == node_count(first));
      CHECK(digest_of(nodes) == digest_of(first));
    }
  }
}

TEST_CASE("a long regular program keeps its digest") {
  RandomStream program(4, true);
  const Bytes first = digest_of(fold(program.run(10)));
  const Events events = program.run(100000);
  CAPTURE(events.size());
  CHECK(digest_of(fold(events)) == first);
}

TEST_CASE("memory is flat from a thousand to ten million events") {
  Folder folder;
  size_t at_thousand = 0;
  for (int64_t i = 0; i < 10'000'000 / 5; ++i) {
    const int64_t row[] = {i % 2, i * 4096, 7, i % 2 ? 3 : 5};
    for (ShapeId s = 0; s < 5; ++s) folder.push(s, std::span(row).first(s < 4 ? s + 1 : 0));
    if (i == 200) at_thousand = folder.memory_bytes();
  }
  CHECK(folder.events() == 10'000'000);
  CHECK(folder.memory_bytes() <= at_thousand + 4096);
}

TEST_CASE("random branches cost columns, not nodes") {
  for (const int ways : {2, 3}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(ways);
      CAPTURE(seed);
      std::mt19937_64 random(seed);
      Events events;
      for (int i = 0; i < 20000; ++i) {
        events.push_back({0, {i}});
        events.push_back({static_cast<ShapeId>(4 + 4 * (random() % static_cast<uint64_t>(ways))), {i}});
        events.push_back({20, {0}});
      }
      const std::vector<Node> nodes = fold(events);
      REQUIRE(same(nodes, events));
      MESSAGE(node_count(nodes), " nodes");
      CHECK(node_count(nodes) < 300);
    }
  }
}
