// Folding random structured programs: exact always, of constant structure when they are regular, in flat memory.
#include <doctest/doctest.h>

#include <cstdlib>

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

TEST_CASE("a thousand random programs come back exactly") {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    const Events events = RandomStream(seed, false, 1000).run(3 + static_cast<int64_t>(seed % 40));
    const std::vector<Node> nodes = fold(events);
    REQUIRE(same(nodes, events));
    REQUIRE(event_count(nodes) == events.size());
  }
}

// GTRACE_TEST_SEEDS: how many programs, for a longer run.
TEST_CASE("regular random programs have one digest at any length") {
  const char* wanted = std::getenv("GTRACE_TEST_SEEDS");
  const uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : 300;
  constexpr int64_t WarmUp = 30;
  constexpr size_t MostEvents = 200'000;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    RandomStream program(seed, true);
    const Events few = program.run(WarmUp);
    const Bytes digest = digest_of(fold(few));
    for (const int64_t n : {WarmUp + 1, 100l, 1000l, 10000l}) {
      CAPTURE(n);
      if (few.size() * static_cast<size_t>(n / WarmUp) > MostEvents) continue;
      const Events more = program.run(n);
      const std::vector<Node> nodes = fold(more);
      REQUIRE(same(nodes, more));
      REQUIRE(digest_of(nodes) == digest);
    }
  }
}

TEST_CASE("memory is flat from a thousand to two million events") {
  Folder folder;
  size_t at_thousand = 0;
  for (int64_t i = 0; i < 2'000'000 / 5; ++i) {
    const int64_t row[] = {i % 2, i * 4096, 7, i % 2 ? 3 : 5};
    for (ShapeId s = 0; s < 5; ++s) folder.push(s, std::span(row).first(s < 4 ? s + 1 : 0));
    if (i == 200) at_thousand = folder.memory_bytes();
  }
  CHECK(folder.events() == 2'000'000);
  CHECK(folder.memory_bytes() <= at_thousand + 4096);
}
