// What commands know of user events that they are behind.
#include "optimizer-rt/client/objects/gate.h"

#include <doctest/doctest.h>

#include <thread>

using namespace gt::virt;

TEST_CASE("what waits at a gate runs once, when it opens or lets go, and not where it is open") {
  using Why = Gate::Why;
  std::vector<Why> ran;
  const auto note = [&](Why why) { ran.push_back(why); };
  Gate gate;
  CHECK(!gate.is_open());
  CHECK(gate.at_opening(note));
  CHECK(gate.at_opening(note));
  gate.let_go();
  CHECK(ran == std::vector{Why::LetGo, Why::LetGo});
  CHECK(!gate.is_open());
  gate.let_go();  // nobody waits any more
  CHECK(ran.size() == 2);
  CHECK(gate.at_opening(note));
  gate.open();
  CHECK(gate.is_open());
  CHECK(ran.back() == Why::Opens);
  CHECK(ran.size() == 3);
  CHECK(!gate.at_opening(note));
  CHECK(ran.size() == 3);
}

TEST_CASE("continuations run with no lock held") {
  Gate gate;
  bool again = true;
  CHECK(gate.at_opening([&](Gate::Why) { again = gate.at_opening([](Gate::Why) {}); }));
  gate.open();
  CHECK(!again);
}

TEST_CASE("lists have closed gates, in order, each once") {
  const auto a = std::make_shared<Gate>(), b = std::make_shared<Gate>(), c = std::make_shared<Gate>();
  Gates gates{a};
  b->open();
  add_closed(gates, {c, b, a, c});
  CHECK(gates == Gates{a, c});
  int let = 0;
  CHECK(a->at_opening([&](Gate::Why) { ++let; }));
  CHECK(c->at_opening([&](Gate::Why) { ++let; }));
  a->open();
  let_go(gates);  // of those that are closed
  CHECK(let == 2);
  add_closed(gates, {});
  CHECK(gates.size() == 2);  // what has opened since may stay
}

TEST_CASE("who comes while it opens runs, or is told that it is open") {
  for (int round = 0; round < 200; ++round) {
    Gate gate;
    std::atomic<int> ran{0}, refused{0};
    std::thread other([&] {
      for (int i = 0; i < 10; ++i) refused += !gate.at_opening([&](Gate::Why) { ++ran; });
    });
    gate.open();
    other.join();
    CHECK(ran + refused == 10);
  }
}
