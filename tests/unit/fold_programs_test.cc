// Folding random structured programs: exact always, of constant structure when they are regular, in flat memory.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/unit/random_stream.h"
#include "traces/model/folded/digest.h"
#include "traces/model/fold/fold.h"

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

uint64_t key_of(ShapeId shape) { return uint64_t{shape} * 77 + 5; }
Bytes digest_of(const std::vector<Node>& nodes) {
  ByteWriter out;
  digest(nodes, widths(), key_of, out);
  return out.take();
}
// The same, but whatever the constants are.
Bytes structure_of(const std::vector<Node>& nodes) {
  ByteWriter out;
  digest(nodes, widths(), key_of, [](ShapeId, size_t, int64_t) { return int64_t{0}; }, out);
  return out.take();
}

}  // namespace

TEST_CASE("a thousand random programs come back exactly") {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    const Events events = RandomStream(seed, RandomStream::Any, 1000).run(3 + static_cast<int64_t>(seed % 40));
    const std::vector<Node> nodes = fold(events);
    REQUIRE(same(nodes, events));
    REQUIRE(event_count(nodes) == events.size());
  }
}

// GTRACE_TEST_SEEDS: how many programs, for a longer run.
uint64_t seeds(uint64_t usual) {
  const char* wanted = std::getenv("GTRACE_TEST_SEEDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}

// Runs of all lengths come back exactly, and those that show the same of the program have one digest, or all that are
// `always` alike. Gives the shortest length that shows as much as the longest does; 0: none but the longest.
int64_t check_digests(RandomStream& program, bool always) {
  constexpr size_t MostEvents = 60'000;
  struct Run {
    int64_t n;
    Observed observed;
    Bytes structure, digest;
  };
  std::vector<Run> runs;
  size_t events_each = 0;
  for (const int64_t n : {30l, 31l, 100l, 101l, 300l, 1000l, 3000l, 3001l, 10000l}) {
    CAPTURE(n);
    if (events_each * static_cast<size_t>(n) > MostEvents) break;
    const Events events = program.run(n);
    events_each = 1 + events.size() / static_cast<size_t>(n);
    const std::vector<Node> nodes = fold(events);
    REQUIRE(same(nodes, events));
    runs.push_back({n, program.observed(), structure_of(nodes), digest_of(nodes)});
    const Run& last = runs.back();
    for (const Run& r : runs) {
      CAPTURE(r.n);
      if (!always && !r.observed.same_structure(last.observed)) continue;
      REQUIRE(r.structure == last.structure);
      if (always || r.observed.constants == last.observed.constants) REQUIRE(r.digest == last.digest);
    }
  }
  for (const Run& r : runs) {
    if (r.observed.same_structure(runs.back().observed)) return r.n == runs.back().n ? 0 : r.n;
  }
  return 0;
}

TEST_CASE("regular random programs have one digest at any length from thirty iterations on") {
  for (uint64_t seed = 0; seed < seeds(150); ++seed) {
    CAPTURE(seed);
    RandomStream program(seed, RandomStream::Regular);
    (void)check_digests(program, true);
  }
}

TEST_CASE("random programs with conditions have one digest at any length that has met all their branches") {
  uint64_t settled = 0, at_thirty = 0;
  for (uint64_t seed = 0; seed < seeds(150); ++seed) {
    CAPTURE(seed);
    RandomStream program(seed, RandomStream::Conditions);
    const int64_t n = check_digests(program, false);
    settled += n != 0;
    at_thirty += n == 30;
  }
  MESSAGE(at_thirty << " of " << seeds(150) << " have met all at 30, " << settled << " before their longest run");
  CHECK(settled * 2 > seeds(150));  // most of the comparisons above have compared something
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
