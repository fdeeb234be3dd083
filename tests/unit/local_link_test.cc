// What every link promises (transport/link/base/link.h), for the one inside a process.
#include <doctest/doctest.h>

#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "transport/link/local_link.h"

namespace gt::wire {
namespace {

struct Log : LinkHandler {
  std::vector<std::string> seen;
  Link* answer_on = nullptr;

  void on_frame(ByteView frame) override {
    seen.emplace_back(as_text(frame));
    if (answer_on && seen.size() < 4) {
      const ByteView part[] = {as_bytes("again")};
      REQUIRE(answer_on->send(part).ok());
    }
  }
  void on_put(Notice notice, size_t bytes) override {
    seen.push_back("put " + std::to_string(notice) + " " + std::to_string(bytes));
  }
  void on_closed(const Status&) override { seen.push_back("closed"); }
};

Status say(Link& link, std::string_view text) {
  const ByteView parts[] = {as_bytes(text)};
  return link.send(parts);
}

TEST_CASE("frames arrive in order, also those that handlers send") {
  Log at_a, at_b;
  auto [a, b] = make_local_link();
  at_a.answer_on = a.get();
  at_b.answer_on = b.get();
  REQUIRE(a->start(at_a).ok());
  REQUIRE(b->start(at_b).ok());
  REQUIRE(say(*a, "one").ok());
  CHECK(at_b.seen == std::vector<std::string>{"one", "again", "again", "again"});
  CHECK(at_a.seen == std::vector<std::string>{"again", "again", "again"});
}

TEST_CASE("puts and gets stay inside segments") {
  Log at_a, at_b;
  auto [a, b] = make_local_link();
  REQUIRE(a->start(at_a).ok());
  REQUIRE(b->start(at_b).ok());
  char memory[8] = {};
  const SegmentId segment = *b->expose(memory, sizeof memory);
  CHECK(a->wait(a->put("abc", {segment, 5}, 3, Notice{42})).ok());
  CHECK(std::string_view(memory + 5, 3) == "abc");
  CHECK(at_b.seen == std::vector<std::string>{"put 42 3"});
  CHECK(a->view({segment, 4}, 4) == memory + 4);
  CHECK(a->view({segment, 4}, 5) == nullptr);
  char back[3] = {};
  CHECK(a->wait(a->get(back, {segment, 5}, 3)).ok());
  CHECK(std::string_view(back, 3) == "abc");
  REQUIRE(b->withdraw(segment).ok());
  CHECK_FALSE(a->wait(a->put("x", {segment, 0}, 1)).ok());
  CHECK(at_a.seen == std::vector<std::string>{"closed"});
  CHECK_FALSE(say(*b, "late").ok());
}

TEST_CASE("any memory has a shared address inside a process") {
  auto [a, b] = make_local_link();
  int x = 5;
  const auto address = a->shared_address(&x, sizeof x);
  REQUIRE(address);
  CHECK(b->view(*address, sizeof x) == &x);
}

// A thread that waits leaves its frame to one that is delivering just then, and has said that nothing is left before
// the frame is there; the other one does not mean to say anything.
TEST_CASE("the peer hears that nothing is left after every frame, whoever delivers it") {
  struct Peer : LinkHandler {
    void on_frame(ByteView frame) override {
      if (as_text(frame) == "first") {
        inside.release();
        go_on.acquire();
      }
      ++unheard;
    }
    bool on_idle(Idle) override { return unheard = 0, false; }
    void on_put(Notice, size_t) override {}
    void on_closed(const Status&) override {}
    std::binary_semaphore inside{0}, go_on{0};
    int unheard = 0;
  } peer;
  Log asking;
  auto [a, b] = make_local_link();
  REQUIRE(a->start(asking).ok());
  REQUIRE(b->start(peer).ok());
  const auto say_more = [&link = *a](std::string_view text) {
    const ByteView parts[] = {as_bytes(text)};
    return link.send(parts, true);
  };
  std::thread delivers([&] { CHECK(say_more("first").ok()); });
  peer.inside.acquire();
  a->prepare_help();
  CHECK(say_more("second").ok());
  a->help([] { return false; });
  peer.go_on.release();
  delivers.join();
  CHECK(peer.unheard == 0);
}

}  // namespace
}  // namespace gt::wire
