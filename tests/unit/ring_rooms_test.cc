// The rooms of a ring against a model: which bytes are whose.
#include "transport/executor/transfer/ring_rooms.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace gt::exec {
namespace {

constexpr size_t Size = 1024, Line = 64;

struct Model {
  RingRooms rooms{Size, Line};
  struct Taken {
    size_t begin, bytes;
  };
  std::vector<Taken> taken;
  std::vector<int> owner = std::vector<int>(Size, 0);  // 0: nobody's

  bool take(size_t bytes, int who) {
    const auto begin = rooms.take(bytes);
    if (!begin) return false;
    CHECK(*begin % Line == 0);
    REQUIRE(*begin + bytes <= Size);
    for (size_t i = *begin; i < *begin + bytes; ++i) {
      CHECK(owner[i] == 0);
      owner[i] = who;
    }
    taken.push_back({*begin, bytes});
    return true;
  }
  void give_back(size_t i) {
    const Taken t = taken[i];
    taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
    for (size_t at = t.begin; at < t.begin + t.bytes; ++at) owner[at] = 0;
    rooms.give_back(t.begin);
  }
};

}  // namespace

TEST_CASE("rooms of a ring: nothing is given to two, and all of it comes back") {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Model m;
    int refused = 0;
    for (int who = 1; who <= 400; ++who) {
      const size_t bytes = random() % (random() % 8 == 0 ? Size + 1 : 100);
      if (random() % 5 < 3)
        refused += !m.take(bytes, who);
      else if (!m.taken.empty())
        m.give_back(random() % m.taken.size());
    }
    CHECK(refused > 0);
    while (!m.taken.empty()) m.give_back(random() % m.taken.size());
    CHECK(m.take(Size, 1));
  }
}

TEST_CASE("rooms of a ring: taken in turn they go round for ever") {
  Model m;
  for (int who = 1; who <= 1000; ++who) {
    REQUIRE(m.take(100, who));
    if (m.taken.size() == 5) m.give_back(0);
  }
}

TEST_CASE("rooms of a ring: one that stays keeps those behind it, and no more") {
  Model m;
  REQUIRE(m.take(1, 1));
  for (int who = 2; who <= 16; ++who) REQUIRE(m.take(Line, who));
  CHECK_FALSE(m.take(1, 17));
  while (m.taken.size() > 1) m.give_back(1);
  CHECK_FALSE(m.take(1, 18));
  m.give_back(0);
  CHECK(m.take(Size, 19));
}

}  // namespace gt::exec
