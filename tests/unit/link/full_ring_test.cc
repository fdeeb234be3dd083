// Senders that wait for room, and what waits behind a full ring, while the thread that the peer would wake is busy.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "tests/unit/link/started.h"
#include "transport/link/node/shm_region.h"

namespace gt::wire {
namespace {

using Clock = std::chrono::steady_clock;

// Long after what is tested has happened, and long before a receiver that looks now and then would come through.
Clock::time_point in_time() { return Clock::now() + std::chrono::seconds(30); }

// As a client does that sends a row of commands, the last of which is answered.
void send_row(Link& link, int frames, const std::atomic<int>& came) {
  const std::string frame(size_t{32} << 10, 'f');
  const auto until = in_time();
  link.prepare_help();
  for (int i = 0; i < frames && Clock::now() < until; ++i) (void)say(link, frame);
  link.help([&] { return came >= frames || Clock::now() > until; });
}

TEST_CASE("two threads that will receive send so much to each other that both wait for room") {
  FOR_EACH_LINK(kind) {
    if (kind.delay_us > 1000) continue;
    constexpr int Frames = 1000;
    struct Counts : LinkLog {
      void on_frame(ByteView) override { ++came; }
      std::atomic<int> came{0};
    } at_a, at_b;
    LinkPair pair = make_pair(kind);
    REQUIRE(pair.a->start(at_a).ok());
    REQUIRE(pair.b->start(at_b).ok());
    std::thread other([&] { send_row(*pair.b, Frames, at_b.came); });
    send_row(*pair.a, Frames, at_a.came);
    other.join();
    for (const auto until = in_time(); at_a.came + at_b.came < 2 * Frames && Clock::now() < until;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(at_a.came == Frames);
    CHECK(at_b.came == Frames);
    pair.a->close();
    pair.b->close();
    pair.a.reset();
    pair.b.reset();
  }
}

// Sends a frame more than the ring takes while the peer is in a handler, which goes on only then.
void overfill(Started& s, const std::string& frame, std::atomic<bool>& in_handler, std::atomic<bool>& go_on) {
  const size_t room = ControlRing / (frame.size() + sizeof(RecordHeader));
  in_handler = go_on = false;
  REQUIRE(say(s.a(), "wait").ok());
  in_handler.wait(false);
  for (size_t i = 0; i <= room; ++i) REQUIRE(say(s.a(), frame).ok());
  go_on = true;
  go_on.notify_all();
}

TEST_CASE("what waits behind a full ring is sent when the thread that was to receive does not") {
  const LinkKind kind{"shm", "shm"};
  Started s(kind);
  const std::string frame(size_t{32} << 10, 'f');
  const size_t in_ring = 1 + ControlRing / (frame.size() + sizeof(RecordHeader));
  std::atomic<bool> in_handler{false}, go_on{false};
  s.at_b.on_each_frame([&](ByteView f) {
    if (f.size() > 4) return;
    in_handler = true;
    in_handler.notify_all();
    go_on.wait(false);
  });
  const auto until = in_time();
  size_t came = 0;
  for (int round = 0; round < 100 && Clock::now() < until; ++round) {
    s.a().prepare_help();
    overfill(s, frame, in_handler, go_on);
    REQUIRE(s.at_b.wait_frames(came + in_ring));  // the ring has room, and this side was told of it
    s.a().help([] { return true; });
    REQUIRE(s.at_b.wait_frames(came += in_ring + 1));
  }
  CHECK(s.at_b.frames().size() == 100 * (in_ring + 1));
}

}  // namespace
}  // namespace gt::wire
