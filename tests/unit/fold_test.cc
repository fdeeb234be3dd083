// Folding: lossless on everything, constant for regular programs.
#include "traces/model/fold/fold.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "traces/model/folded/rounds.h"

using namespace gt;
using namespace gt::model;

namespace {

struct Event {
  ShapeId shape;
  std::vector<int64_t> values;
  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;

std::vector<int> widths_of(const Events& events) {
  std::vector<int> widths(64, 0);
  for (const Event& e : events) widths[e.shape] = static_cast<int>(e.values.size());
  return widths;
}

std::vector<Node> fold(const Events& events, size_t snapshot_every = 0) {
  Folder folder;
  for (size_t i = 0; i < events.size(); ++i) {
    if (snapshot_every != 0 && i % snapshot_every == 0) (void)folder.snapshot();
    folder.push(events[i].shape, events[i].values);
  }
  CHECK(folder.events() == events.size());
  return folder.snapshot();
}

// `most`: of the calls of a loop that are read in one go, a number is drawn below it; 0: none is.
bool same(const std::vector<Node>& nodes, const Events& events, uint64_t most = 0) {
  size_t at = 0;
  bool equal = true;
  const auto visit = [&](ShapeId shape, std::span<const int64_t> values) {
    equal = at < events.size() && events[at].shape == shape && std::ranges::equal(values, events[at].values);
    ++at;
    return equal;
  };
  std::mt19937_64 random(events.size());
  const auto read = [&](Rounds& rounds) {
    const uint64_t calls = std::min(random() % most, rounds.left() * rounds.size());
    for (uint64_t i = 0; equal && i < calls; ++i) {
      const size_t call = i % rounds.size();
      equal = rounds.read(call) && visit(rounds.node(call).shape, rounds.row(call));
      if (call + 1 == rounds.size()) rounds.end_round();
    }
    rounds.end_within(calls % rounds.size());
    return equal;
  };
  const bool sound = expand(nodes, widths_of(events), visit, most > 0 ? RoundsVisitor(read) : RoundsVisitor());
  return sound && equal && at == events.size();
}

void check_lossless(const Events& events, size_t snapshot_every = 0) {
  const std::vector<Node> nodes = fold(events, snapshot_every);
  REQUIRE(same(nodes, events));
  for (const uint64_t most : {1, 2, 7, 100, 1'000'000}) REQUIRE(same(nodes, events, most));
  CHECK(event_count(nodes) == events.size());
  ByteWriter out;
  encode_nodes(out, nodes);
  ByteReader in(out.view());
  std::vector<Node> again;
  REQUIRE(decode_nodes(in, again, widths_of(events)));
  CHECK(in.at_end());
  REQUIRE(same(again, events));
}

size_t node_count(const std::vector<Node>& nodes) {
  size_t n = nodes.size();
  for (const Node& node : nodes) n += node_count(node.body);
  return n;
}
Bytes digest_of(const std::vector<Node>& nodes, const std::vector<int>& widths) {
  ByteWriter out;
  digest(
      nodes, widths, [](ShapeId s) { return uint64_t{s} * 77 + 5; }, out);
  return out.take();
}
size_t size_of(const std::vector<Node>& nodes) {
  ByteWriter out;
  encode_nodes(out, nodes);
  return out.size();
}

// The same program at branches lengths: same digest, same nodes, lossless.
void check_constant(const std::function<Events(int64_t)>& program, size_t most_nodes) {
  const Events ten = program(10);
  const std::vector<Node> first = fold(ten);
  check_lossless(ten);
  CHECK(node_count(first) <= most_nodes);
  for (const int64_t n : {11, 64, 65, 1000, 20000}) {
    CAPTURE(n);
    const Events events = program(n);
    const std::vector<Node> nodes = fold(events);
    REQUIRE(same(nodes, events));
    CHECK(event_count(nodes) == events.size());
    CHECK(node_count(nodes) == node_count(first));
    CHECK(digest_of(nodes, widths_of(events)) == digest_of(first, widths_of(ten)));
  }
}

using Random = std::mt19937_64;
int64_t draw(Random& r, int64_t below) {
  return static_cast<int64_t>(r() % static_cast<uint64_t>(below));
}

}  // namespace

TEST_CASE("nothing folds to nothing") {
  CHECK(fold({}).empty());
  check_lossless({{1, {}}});
  check_lossless({{1, {5}}, {1, {6}}});
}

TEST_CASE("the paper's loop is one loop of four calls") {
  const auto program = [](int64_t n) {
    Events e{{1, {0}}, {2, {0, 4096}}, {3, {}}};
    for (int64_t i = 0; i < n; ++i) {
      e.push_back({4, {0, 0, 4096}});
      e.push_back({5, {0, 7}});
      e.push_back({6, {0, 1024, 64}});
      e.push_back({7, {0, 4096}});
    }
    e.push_back({8, {0}});
    return e;
  };
  check_constant(program, 9);
  const std::vector<Node> nodes = fold(program(100000));
  REQUIRE(nodes.size() == 5);
  CHECK(nodes[3].count.is_const(100000));
  CHECK(nodes[3].body.size() == 4);
  CHECK(nodes[3].body[0].values[2].is_const(4096));
}

TEST_CASE("ping-pong, affine scalars, allocation slots") {
  check_constant(
      [](int64_t n) {
        Events e;
        for (int64_t i = 0; i < n; ++i) {
          e.push_back({1, {i % 2, 1 - i % 2}});
          e.push_back({2, {i * 24 - 7, i}});
          e.push_back({3, {0, 100}});
        }
        return e;
      },
      4);
  check_constant(
      [](int64_t n) {
        Events e;
        for (int64_t i = 0; i < n; ++i) e.push_back({static_cast<ShapeId>(1 + i % 2), {i / 2}});
        if (n % 2) e.pop_back();
        return e;
      },
      3);
}

TEST_CASE("nested loops are affine in both counters") {
  const auto program = [](int64_t n) {
    Events e;
    for (int64_t i = 0; i < n; ++i) {
      e.push_back({1, {i}});
      for (int64_t j = 0; j < 7; ++j) e.push_back({2, {i * 10 + j, i, j, 3}});
      e.push_back({3, {}});
    }
    return e;
  };
  check_constant(program, 5);
  const std::vector<Node> nodes = fold(program(50));
  REQUIRE(nodes.size() == 1);
  const Series& v = nodes[0].body[1].body[0].values[0];
  REQUIRE(v.kind == Series::Kind::Affine);
  CHECK(v.step().is_const(1));
  REQUIRE(v.base().kind == Series::Kind::Affine);
  CHECK(v.base().step().is_const(10));
}

TEST_CASE("varying trip counts, warm-up, periodic work") {
  check_constant(
      [](int64_t n) {
        Events e;
        Random r(7);
        for (int64_t i = 0; i < n; ++i) {
          e.push_back({1, {i}});
          for (int64_t j = 1 + draw(r, 5); j > 0; --j) e.push_back({2, {9}});
          e.push_back({3, {}});
        }
        return e;
      },
      12);
  check_constant(
      [](int64_t n) {
        Events e;
        for (int64_t i = 0; i < n; ++i) {
          e.push_back({1, {i == 0 ? 5 : 0}});
          if (i == 0) e.push_back({9, {1}});
          e.push_back({2, {1}});
        }
        return e;
      },
      8);
  check_constant(
      [](int64_t n) {
        Events e;
        for (int64_t i = 0; i < n * 100; ++i) {
          e.push_back({1, {i}});
          e.push_back({2, {1}});
          if (i % 100 == 99) e.push_back({3, {1}});
        }
        return e;
      },
      8);
}

namespace {
std::string letters_to_size(const std::string& program, size_t most_nodes) {
  Events e;
  for (const char c : program) e.push_back({static_cast<ShapeId>(c - 'A'), {1}});
  const std::vector<Node> nodes = fold(e);
  if (!same(nodes, e)) return "lost something";
  if (node_count(nodes) > most_nodes) return std::to_string(node_count(nodes)) + " nodes";
  return "";
}
}  // namespace

TEST_CASE("adversarial shapes stay small") {
  std::string abaaba, a(10000, 'A');
  for (int i = 0; i < 3000; ++i) abaaba += "ABAABA";
  CHECK(letters_to_size(abaaba, 6) == "");
  CHECK(letters_to_size(a, 2) == "");
  for (const unsigned seed : {1u, 2u, 3u, 4u, 5u}) {
    CAPTURE(seed);
    Random r(seed);
    std::string zero_to_five, pairs, nested, branches;
    for (int i = 0; i < 3000; ++i) {
      zero_to_five += std::string(static_cast<size_t>(draw(r, 6)), 'A') + "B";
      for (int64_t j = 1 + draw(r, 4); j > 0; --j) pairs += "AB";
      pairs += "C";
      for (int64_t j = 1 + draw(r, 4); j > 0; --j) {
        nested += std::string(static_cast<size_t>(1 + draw(r, 4)), 'A') + "B";
      }
      nested += "C";
      branches += static_cast<char>('A' + draw(r, 2));
      branches += "D";
    }
    CHECK(letters_to_size(zero_to_five, 20) == "");
    CHECK(letters_to_size(pairs, 20) == "");
    CHECK(letters_to_size(nested, 40) == "");
    CHECK(letters_to_size(branches, 250) == "");
  }
}

namespace {

// A random program: nested loops with constant, affine or random counts; calls with values of every
// kind.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) { body_ = block(0); }
  Events run() {
    for (int i = 0; i < 3; ++i) execute(body_);
    return std::move(events_);
  }

 private:
  struct Statement {
    int kind = 0;  // 0: call, 1: loop, 2: branch
    ShapeId shape = 0;
    int64_t count = 0;
    int count_kind = 0;
    std::vector<Statement> body;
  };
  std::vector<Statement> block(int depth) {
    std::vector<Statement> out;
    for (int64_t n = 1 + draw(random_, 4); n > 0; --n) {
      Statement s;
      s.kind = depth < 4 ? static_cast<int>(draw(random_, 4)) : 0;
      s.shape = static_cast<ShapeId>(draw(random_, 12));
      s.count = draw(random_, 7);
      s.count_kind = static_cast<int>(draw(random_, 3));
      if (s.kind == 3) s.kind = 1;
      if (s.kind != 0) s.body = block(depth + 1);
      out.push_back(std::move(s));
    }
    return out;
  }
  void execute(const std::vector<Statement>& body) {
    for (const Statement& s : body) {
      if (events_.size() > 30000) return;
      if (s.kind == 0) call(s.shape);
      if (s.kind == 1) loop(s);
      if (s.kind == 2 && draw(random_, 2)) execute(s.body);
    }
  }
  void loop(const Statement& s) {
    const int64_t outer = counters_.empty() ? 0 : counters_.back();
    const int64_t n = s.count_kind == 0   ? s.count
                      : s.count_kind == 1 ? outer % 9
                                          : draw(random_, 5);
    counters_.push_back(0);
    for (int64_t i = 0; i < n; ++i) {
      counters_.back() = i;
      execute(s.body);
    }
    counters_.pop_back();
  }
  void call(ShapeId shape) {
    Event e{shape, {}};
    const int64_t i = counters_.empty() ? 0 : counters_.back();
    const int64_t j = counters_.size() < 2 ? 0 : counters_[counters_.size() - 2];
    for (ShapeId v = 0; v < shape % 5; ++v) {
      switch ((shape + v) % 6) {
        case 0:
          e.values.push_back(7);
          break;
        case 1:
          e.values.push_back(i * 3 + j * 100);
          break;
        case 2:
          e.values.push_back(i % 3);
          break;
        case 3:
          e.values.push_back(static_cast<int64_t>(random_()));
          break;
        case 4:
          e.values.push_back(static_cast<int64_t>(events_.size()));
          break;
        case 5:
          e.values.push_back(draw(random_, 40) == 0);
          break;
      }
    }
    events_.push_back(std::move(e));
  }

  Random random_;
  std::vector<Statement> body_;
  std::vector<int64_t> counters_;
  Events events_;
};

}  // namespace

TEST_CASE("random programs come back exactly") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    check_lossless(Program(seed).run(), seed % 4 == 0 ? 997 : 0);
  }
}

TEST_CASE("random streams come back exactly") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    Random r(seed);
    const int64_t shapes = 1 + draw(r, 20);
    Events e;
    for (int64_t n = draw(r, 30000); n > 0; --n) {
      const auto shape = static_cast<ShapeId>(draw(r, shapes));
      Event event{shape, {}};
      for (ShapeId v = 0; v < shape % 3; ++v) {
        event.values.push_back(draw(r, 2) ? draw(r, 3) : static_cast<int64_t>(r()));
      }
      e.push_back(std::move(event));
    }
    check_lossless(e, seed % 5 == 0 ? 4999 : 0);
  }
}

TEST_CASE("events that are pushed again are as if each had been pushed") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random r(seed);
    Folder folder;
    Events events;
    const auto push = [&](const Event& e) {
      events.push_back(e);
      folder.push(e.shape, e.values);
    };
    const auto any_event = [&](int64_t values) {
      const auto shape = static_cast<ShapeId>(draw(r, 5));
      Event event{shape, {}};
      for (ShapeId v = 0; v < shape % 3; ++v) event.values.push_back(draw(r, values));
      return event;
    };
    for (int64_t stretch = draw(r, 30); stretch > 0; --stretch) {
      Events period;
      for (int64_t n = 1 + draw(r, 5); n > 0; --n) period.push_back(any_event(1 + draw(r, 3)));
      for (int64_t n = 1 + draw(r, 6); n > 0; --n) std::for_each(period.begin(), period.end(), push);
      std::vector<PushedEvent> again;
      for (const Event& e : period) again.push_back({e.shape, e.values});
      const int64_t times = draw(r, 2) ? draw(r, 5) : draw(r, 400);
      folder.push_again(again, static_cast<uint64_t>(times));
      for (int64_t n = times; n > 0; --n) events.insert(events.end(), period.begin(), period.end());
      for (int64_t n = draw(r, 3) * draw(r, 4); n > 0; --n) push(any_event(10));
    }
    CHECK(folder.events() == events.size());
    CHECK(same(folder.snapshot(), events));
  }
}

TEST_CASE("irregular streams cost a few bytes an event") {
  Random r(3);
  Events e;
  for (int i = 0; i < 200000; ++i) e.push_back({static_cast<ShapeId>(draw(r, 40)), {draw(r, 100)}});
  const std::vector<Node> nodes = fold(e);
  REQUIRE(same(nodes, e));
  CHECK(size_of(nodes) < e.size() * 6);
}

TEST_CASE("damaged bytes are refused or expand to something, and never hang") {
  Random r(11);
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Events e = Program(seed + 100).run();
    const std::vector<int> widths = widths_of(e);
    ByteWriter out;
    encode_nodes(out, fold(e));
    const Bytes good = out.take();
    const auto try_it = [&](ByteView bytes) {
      ByteReader in(bytes);
      std::vector<Node> nodes;
      if (!decode_nodes(in, nodes, widths)) return;
      size_t left = 20000;
      (void)expand(nodes, widths, [&](ShapeId, std::span<const int64_t>) { return --left > 0; });
      (void)digest_of(nodes, widths);
    };
    const size_t step = 1 + good.size() / 1500;
    for (size_t n = 0; n < good.size(); n += step) try_it(ByteView(good).first(n));
    for (int i = 0; i < 1500; ++i) {
      Bytes bad = good;
      for (int64_t k = 1 + draw(r, 3); k > 0; --k) {
        bad[static_cast<size_t>(draw(r, static_cast<int64_t>(bad.size())))] =
            static_cast<uint8_t>(r());
      }
      try_it(bad);
    }
  }
}

TEST_CASE("a huge regular stream needs little memory") {
  Folder folder;
  for (int64_t i = 0; i < 1000000; ++i) {
    const int64_t values[] = {i, i % 3, 5};
    folder.push(static_cast<ShapeId>(i % 4), std::span(values).first(static_cast<size_t>(i % 4)));
  }
  CHECK(folder.memory_bytes() < 2000000);
  CHECK(node_count(folder.snapshot()) <= 5);
}

TEST_CASE("columns that are summarised keep the structure, the trip counts and every other value") {
  Random r(5);
  Folder folder;
  Events events;
  for (int64_t i = 0; i < 5000; ++i) {
    events.push_back({1, {i, draw(r, 1000), 7}});
    for (int64_t j = draw(r, 5); j > 0; --j) events.push_back({2, {j + i, draw(r, 50)}});
  }
  for (const Event& e : events) {
    folder.push(e.shape, e.values);
    if (&e == &events[9000]) folder.summarise_values();
  }
  folder.summarise_values();
  std::vector<Node> nodes = folder.snapshot();
  CHECK(size_of(nodes) < size_of(fold(events)) / 3);
  CHECK(event_count(nodes) == events.size());
  ByteWriter out;
  encode_nodes(out, nodes);
  ByteReader in(out.view());
  REQUIRE(decode_nodes(in, nodes, widths_of(events)));
  size_t at = 0, unkept = 0;
  CHECK(expand(nodes, widths_of(events), [&](ShapeId shape, std::span<const int64_t> values) {
    bool same = shape == events[at].shape && values.size() == events[at].values.size();
    for (size_t v = 0; same && v < values.size(); ++v) {
      unkept += values[v] == Unkept;
      same = values[v] == Unkept || values[v] == events[at].values[v];
    }
    ++at;
    return same;
  }));
  CHECK(at == events.size());
  CHECK(unkept > 5000);
  CHECK(unkept < 2 * events.size());
}

TEST_CASE("calls that are summarised are counted by shape, the newest stay") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Events events = Program(seed + 300).run();
    const std::vector<int> widths = widths_of(events);
    Folder folder;
    ShapeCounts expected;
    for (size_t i = 0; i < events.size(); ++i) {
      folder.push(events[i].shape, events[i].values);
      ++expected[events[i].shape];
      if (i % 7000 == 6999) folder.summarise_oldest(folder.stored_bytes() / 2 + 1);
    }
    const std::vector<Node> nodes = folder.snapshot();
    CHECK(event_count(nodes) == events.size());
    ShapeCounts counts;
    REQUIRE(count_shapes(nodes, widths, counts));
    CHECK(counts == expected);
    const size_t summaries = !nodes.empty() && nodes[0].kind == Node::Kind::Summary;
    size_t at = events.size() - event_count(std::span(nodes).subspan(summaries));
    bool same = true;
    CHECK(expand(nodes, widths, [&](ShapeId shape, std::span<const int64_t> values) {
      same = same && at < events.size() && shape == events[at].shape &&
             std::equal(values.begin(), values.end(), events[at].values.begin(), events[at].values.end());
      ++at;
      return same;
    }));
    CHECK(same);
    CHECK(at == events.size());
  }
}

TEST_CASE("summarising everything leaves one node for any number of calls") {
  Folder folder;
  Random r(9);
  for (int i = 0; i < 100000; ++i) {
    const int64_t value = draw(r, 1 << 30);
    folder.push(static_cast<ShapeId>(draw(r, 30)), {&value, 1});
    if (i % 20000 == 0) folder.summarise_oldest(folder.stored_bytes());
  }
  folder.summarise_oldest(folder.stored_bytes());
  const std::vector<Node> nodes = folder.snapshot();
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].kind == Node::Kind::Summary);
  CHECK(nodes[0].count.is_const(100000));
  CHECK(folder.stored_bytes() == 0);
}
