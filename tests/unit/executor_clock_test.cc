// The executor's clock in terms of the client's: it runs fast or slow, sleeps, answers late.
#include "optimizer-rt/client/session/executor_clock.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <deque>
#include <random>

using gt::virt::ExecutorClock;

namespace {

constexpr int64_t Us = 1000, Ms = 1000 * Us, Second = 1000 * Ms, Hour = 3600 * Second;

// Where the executor's clock really is.
struct Executor {
  int64_t offset = 0;
  double drift = 0;  // 1e-5: 10 us a second too fast
  int64_t at(int64_t client_ns) const { return client_ns + offset + static_cast<int64_t>(double(client_ns) * drift); }
};

// An exchange that takes `there` and `back`.
void ask(ExecutorClock& clock, const Executor& e, int64_t now, int64_t there = 20 * Us, int64_t back = 20 * Us) {
  clock.sample(now, e.at(now + there), now + there + back);
}

int64_t error(ExecutorClock& clock, const Executor& e, int64_t client_ns) {
  return std::abs(clock.to_client(e.at(client_ns)) - client_ns);
}

}  // namespace

TEST_CASE("the quickest of the first exchanges counts") {
  ExecutorClock clock;
  const Executor e{7 * Hour, 0};
  ask(clock, e, Second, 900 * Us, 100 * Us);
  ask(clock, e, 2 * Second, 20 * Us, 24 * Us);
  ask(clock, e, 2 * Second + Ms, 5 * Ms, Us);
  CHECK(error(clock, e, 3 * Second) == 2 * Us);
}

TEST_CASE("times stay right for hours when they are asked for again and again") {
  for (const double drift : {3e-5, -3e-5, 1e-3, -1e-3}) {
    ExecutorClock clock, forgotten;
    const Executor e{-4 * Hour, drift};
    ask(forgotten, e, 0);
    for (int64_t now = 0; now < 3 * Hour; now += Second) {
      ask(clock, e, now);
      CHECK(error(clock, e, now + Second / 2) <= 50 * Us + int64_t(double(Second) * std::abs(drift)));
    }
    CHECK(error(forgotten, e, 3 * Hour) > 300 * Ms);  // 30 us a second, for hours
  }
}

TEST_CASE("slow answers do not spoil what is known, and do not keep it from being renewed") {
  ExecutorClock clock;
  const Executor e{5, 2e-5};
  std::mt19937 random(1);
  for (int64_t now = 0; now < Hour; now += Second) {
    const bool slow = now > 0 && random() % 4 != 0;  // most are
    ask(clock, e, now, slow ? 30 * Ms : 20 * Us, 20 * Us);
    CHECK(error(clock, e, now + Second / 2) < Ms);
  }
}

TEST_CASE("one of both slept") {
  for (const int64_t slept : {5 * Second, Hour, -5 * Second, -Hour}) {
    ExecutorClock clock;
    Executor e{2 * Hour, 0};
    ask(clock, e, Second);
    CHECK(error(clock, e, 2 * Second) == 0);
    const int64_t before = clock.to_client(e.at(2 * Second));
    e.offset += slept;
    int64_t now = 3 * Second;
    if (slept < 0) now -= slept;  // it was the executor
    ask(clock, e, now);
    CHECK(error(clock, e, now + Second) == 0);
    CHECK(clock.to_client(e.at(now + Second)) > before);
  }
}

// Events in the order of the executor's times, told late and mixed; whatever samples come in between.
TEST_CASE("what is later there is never told as earlier") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const auto up_to = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
    ExecutorClock clock;
    Executor e{up_to(Hour), 0};
    ask(clock, e, 0);
    struct Told {
      int64_t executor, client;
    };
    std::deque<Told> told;
    int wrong = 0;
    int64_t now = Second;
    for (int i = 0; i < 3000; ++i) {
      now += up_to(100 * Ms);
      e.drift = (double(up_to(2000)) - 1000) * 1e-8;  // some 10 us a second, a new one each time
      if (i % 7 == 0) ask(clock, e, now, up_to(50 * Us), up_to(i % 21 == 0 ? 10 * Ms : 50 * Us));
      const int64_t end = e.at(now - up_to(200 * Ms)), start = end - up_to(100 * Ms);
      for (const int64_t t : {start, end}) {
        const Told is{t, clock.to_client(t)};
        for (const Told& was : told) {
          if (was.executor <= is.executor) wrong += was.client > is.client + 1;
          if (was.executor >= is.executor) wrong += was.client + 1 < is.client;
        }
        told.push_back(is);
        if (told.size() > 40) told.pop_front();
      }
    }
    CHECK(wrong == 0);
  }
}
