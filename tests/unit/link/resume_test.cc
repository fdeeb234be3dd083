// Connections between nodes that are cut, go silent, or carry garbage.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <netdb.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "tests/unit/link/link_log.h"
#include "tests/unit/link/link_pairs.h"

namespace {
std::atomic<int> names_looked_up{0};
}  // namespace

// In front of libc's.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** list) {
  static const auto real = reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name && std::string_view(name) == "localhost") ++names_looked_up;
  return real(name, service, hints, list);
}

namespace gt::wire {
namespace {

constexpr uint32_t LongGrace_ms = 60'000;  // grace, where the processors may have other work

LinkOptions impatient(uint32_t grace_ms = 5000) {
  LinkOptions o;
  o.heartbeat_ms = 50;
  o.dead_ms = 200;
  o.grace_ms = grace_ms;
  return o;
}

struct Relayed {
  LinkLog at_a, at_b;
  LinkPair pair;
  explicit Relayed(LinkOptions options, const char* scheme = "tcp") : pair(make_pair({"relayed", scheme, 0}, options)) {
    REQUIRE(pair.a->start(at_a).ok());
    REQUIRE(pair.b->start(at_b).ok());
  }
  ~Relayed() {
    pair.a->close();
    pair.b->close();
    pair.a.reset();
    pair.b.reset();
  }
};

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Frames both ways, puts and gets, while `disturb` does what it does: everything arrives once and in order.
// `disturb(moved)`: moved() waits until something has come through since it was last called, however long that takes.
using Moved = std::function<void()>;
void check_nothing_is_lost(Relayed& r, const std::function<void(const Moved&)>& disturb) {
  constexpr int Frames = 3000, Puts = 300;
  constexpr size_t Slot = 30'000;
  Bytes there(Slot * Puts), here(Slot * Puts), back(Slot * Puts);
  std::mt19937 random(5);
  for (uint8_t& b : here) b = static_cast<uint8_t>(random());
  const SegmentId segment = *r.pair.b->expose(there.data(), there.size());
  std::atomic<bool> over{false};
  std::atomic<size_t> steps{0};
  std::thread trouble([&, seen = size_t{0}]() mutable {
    const Moved moved = [&] {
      const auto now = [&] { return steps + r.at_a.received() + r.at_b.received(); };
      while (now() == seen && !over) pause_ms(5);
      seen = now();
    };
    while (!over) disturb(moved);
  });
  const auto talk = [&](Link& link) {
    for (int i = 0; i < Frames; ++i) {
      if (!say(link, std::to_string(i), i % 4 != 0).ok()) return;
      if (i % 30 == 0) pause_ms(5);
    }
    (void)link.push();
  };
  std::thread a([&] { talk(*r.pair.a); }), b([&] { talk(*r.pair.b); });
  for (size_t i = 0; i < Puts; ++i) {
    const Ticket t = r.pair.a->put(here.data() + i * Slot, {segment, i * Slot}, Slot, i);
    if (i % 10 == 0) CHECK(r.pair.a->wait(t).ok());
    ++steps;
  }
  CHECK(r.pair.a->flush().ok());
  for (size_t i = 0; i < Puts; ++i) {
    const Ticket t = r.pair.a->get(back.data() + i * Slot, {segment, i * Slot}, Slot);
    if (i % 100 == 99) CHECK(r.pair.a->wait(t).ok());
    ++steps;
  }
  CHECK(r.pair.a->flush().ok());
  a.join();
  b.join();
  over = true;
  trouble.join();
  r.pair.relay->heal();
  for (LinkLog* log : {&r.at_a, &r.at_b})
    for (const std::string& why : log->ends()) FAIL_CHECK(why);
  CHECK(there == here);
  CHECK(back == here);
  for (LinkLog* log : {&r.at_a, &r.at_b}) {
    REQUIRE(log->wait_frames(Frames));
    const auto frames = log->frames();
    CHECK(frames.size() == Frames);
    for (int i = 0; i < Frames; ++i) REQUIRE(frames[static_cast<size_t>(i)] == std::to_string(i));
  }
  REQUIRE(r.at_b.wait_puts(Puts));
  const auto puts = r.at_b.puts();
  CHECK(puts.size() == Puts);
  for (size_t i = 0; i < Puts; ++i) CHECK(puts[i].first == i);
}

TEST_CASE("nothing is lost or delivered twice when connections are cut again and again") {
  for (const char* scheme : {"tcp", "tls"}) {
    if (std::string(scheme) == "tls" && certificate_credentials().ca.empty()) continue;
    DOCTEST_SUBCASE(scheme) {
      Relayed r(impatient(LongGrace_ms), scheme);
      int cuts = 0;
      check_nothing_is_lost(r, [&](const Moved& moved) {
        pause_ms(60);
        if (cuts % 3) moved();  // else the next connection may be cut while it is made
        r.pair.relay->cut();
        pause_ms(20 + 30 * (++cuts % 3));
        r.pair.relay->heal();
      });
      CHECK(cuts > 2);
    }
  }
}

TEST_CASE("nothing is lost when the path swallows everything for a while") {
  Relayed r(impatient(LongGrace_ms));
  check_nothing_is_lost(r, [&](const Moved& moved) {
    pause_ms(150);
    moved();
    r.pair.relay->swallow();
    pause_ms(300);
    r.pair.relay->heal();
  });
}

TEST_CASE("a cut longer than the grace closes the link on both sides") {
  Relayed r(impatient(500));
  r.pair.relay->cut();
  CHECK(r.at_a.wait_closed());
  CHECK(r.at_b.wait_closed());
}

TEST_CASE("a path that swallows everything for good closes the link on both sides") {
  Relayed r(impatient(500));
  r.pair.relay->swallow();
  CHECK(r.at_a.wait_closed());
  CHECK(r.at_b.wait_closed());
}

TEST_CASE("a name is looked up once: connections that are made anew go where the first one went") {
  TestServer server(*parse_url("tcp://127.0.0.1:0"), token_credentials(), impatient());
  relay::Relay relay(server.url().port);
  Url url = server.url();
  url.host = "localhost";
  url.port = relay.port();
  names_looked_up = 0;
  auto a = connect(url, token_credentials(), patient(impatient()));
  REQUIRE_MESSAGE(a, a.status().text());
  auto b = server.next();
  REQUIRE(b);
  LinkLog at_a, at_b;
  REQUIRE((*a)->start(at_a).ok());
  REQUIRE(b->start(at_b).ok());
  relay.cut();
  relay.heal();
  CHECK(say(**a, "here again").ok());
  CHECK(at_b.wait_frames(1));
  CHECK(names_looked_up == 1);
  (*a)->close();
  b->close();
}

TEST_CASE("garbage in the stream closes the link, and harms nobody") {
  Relayed r(impatient());
  Bytes there(100'000);
  REQUIRE(r.pair.b->expose(there.data(), there.size()));
  r.pair.relay->garbage();
  CHECK(r.at_b.wait_closed());
  CHECK(r.at_a.wait_closed());
  CHECK(r.at_b.frames().empty());
  CHECK(std::count(there.begin(), there.end(), 0) == static_cast<long>(there.size()));
}

}  // namespace
}  // namespace gt::wire
