// Receiving in the thread that waits, and what handlers are told when nothing is left to receive: for every link.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/link/started.h"

namespace gt::wire {
namespace {

// A word that a handler changes and a thread waits for, as clients do it.
class Word {
 public:
  void set(int value) {
    word_.store(value, std::memory_order_release);
    word_.notify_all();
  }
  void wait_for(int value, Link& link) {
    link.help([&] { return word_.load(std::memory_order_acquire) >= value; });
    for (int now = word_.load(); now < value; now = word_.load()) word_.wait(now);
  }

 private:
  std::atomic<int> word_{0};
};

TEST_CASE("a thread that waits for an answer gets it, one after the other") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    s.at_b.on_each_frame([&](ByteView f) { (void)say(s.b(), as_text(f)); });
    Word answered;
    s.at_a.on_each_frame([&](ByteView f) { answered.set(std::stoi(std::string(as_text(f)))); });
    const int rounds = kind.delay_us > 1000 ? 20 : 1000;
    for (int i = 1; i <= rounds; ++i) {
      if (i % 3 == 0) s.a().prepare_help();
      REQUIRE(say(s.a(), std::to_string(i), i % 2 == 0).ok());  // help() pushes
      answered.wait_for(i, s.a());
    }
    REQUIRE(s.at_a.wait_frames(static_cast<size_t>(rounds)));
    const auto frames = s.at_a.frames();
    for (int i = 1; i <= rounds; ++i) REQUIRE(frames[static_cast<size_t>(i) - 1] == std::to_string(i));
  }
}

TEST_CASE("several threads wait, each for its own answers, while other frames come") {
  FOR_EACH_LINK(kind) {
    if (kind.delay_us > 1000) continue;
    Started s(kind);
    constexpr int Threads = 4, Rounds = 300, Others = 2000;
    s.at_b.on_each_frame([&](ByteView f) { (void)say(s.b(), as_text(f)); });
    Word answered[Threads];
    std::atomic<int> inside{0}, others{0};
    std::atomic<bool> alone{true};
    s.at_a.on_each_frame([&](ByteView f) {
      alone = alone && ++inside == 1;
      const std::string text(as_text(f));
      if (text[0] == 'x') ++others;
      if (text[0] != 'x') answered[text[0] - '0'].set(std::stoi(text.substr(2)));
      --inside;
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < Threads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 1; i <= Rounds; ++i) {
          if (i % 2 == t % 2) s.a().prepare_help();
          (void)say(s.a(), std::to_string(t) + " " + std::to_string(i));
          answered[t].wait_for(i, s.a());
        }
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < Others; ++i) (void)say(s.b(), "x");
    });
    for (std::thread& t : threads) t.join();
    CHECK(s.at_a.wait_frames(Threads * Rounds + Others));
    CHECK(others == Others);
    CHECK(alone);
  }
}

TEST_CASE("what comes when nobody helps any more arrives all the same") {
  FOR_EACH_LINK(kind) {
    if (kind.delay_us > 1000) continue;
    Started s(kind);
    s.at_b.on_each_frame([&](ByteView f) { (void)say(s.b(), as_text(f)); });
    Word answered;
    s.at_a.on_each_frame([&](ByteView f) {
      if (f[0] != 'x') answered.set(std::stoi(std::string(as_text(f))));
    });
    size_t frames = 0;
    for (int i = 1; i <= 100; ++i) {
      s.a().prepare_help();
      REQUIRE(say(s.a(), std::to_string(i)).ok());
      answered.wait_for(i, s.a());
      REQUIRE(say(s.b(), "x").ok());
      REQUIRE(s.at_a.wait_frames(frames += 2));
    }
  }
}

TEST_CASE("what another thread brings about is seen when it says so") {
  using Clock = std::chrono::steady_clock;
  FOR_EACH_LINK(kind) {
    Started s(kind);
    auto shortest = Clock::duration::max();
    for (int i = 0; i < 10; ++i) {
      Word word;
      s.a().prepare_help();
      const auto start = Clock::now();
      std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        word.set(1);
        s.a().wake_helper();
      });
      word.wait_for(1, s.a());
      shortest = std::min(shortest, Clock::now() - start);
      other.join();
    }
    CHECK(shortest < std::chrono::milliseconds(50));  // a sleeper looks every 100 ms by itself
  }
}

TEST_CASE("the end of the link ends the help") {
  FOR_EACH_LINK(kind) {
    for (const bool by_peer : {false, true}) {
      Started s(kind);
      std::thread waits([&] {
        while (s.at_a.ends().empty()) s.a().help([&] { return !s.at_a.ends().empty(); });
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      (by_peer ? s.b() : s.a()).close();
      waits.join();
      CHECK(s.at_a.wait_closed());
    }
  }
}

// Notes what it is told when nothing is left, and whether a frame was being handled then.
struct IdleLog : LinkLog {
  void on_frame(ByteView frame) override {
    inside = true;
    LinkLog::on_frame(frame);
    inside = false;
    ++frames_seen;
  }
  bool on_idle(Idle how) override {
    if (inside) amid = true;
    if (how == Idle::Sleeps) idle_after = frames_seen.load();
    return false;
  }
  std::atomic<bool> inside{false}, amid{false};
  std::atomic<int> frames_seen{0}, idle_after{0};
};

TEST_CASE("a handler is told when no frame is left") {
  FOR_EACH_LINK(kind) {
    IdleLog at_a, at_b;
    LinkPair pair = make_pair(kind);
    REQUIRE(pair.a->start(at_a).ok());
    REQUIRE(pair.b->start(at_b).ok());
    for (int i = 1; i <= 20; ++i) {
      REQUIRE(say(*pair.a, "frame").ok());
      for (int ms = 0; ms < 20'000 && at_b.idle_after < i; ++ms)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      REQUIRE(at_b.idle_after == i);
    }
    CHECK_FALSE(at_b.amid);
    pair.a->close();
    pair.b->close();
    pair.a.reset();
    pair.b.reset();
  }
}

}  // namespace
}  // namespace gt::wire
