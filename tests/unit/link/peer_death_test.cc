// A peer that is killed, stopped, or forks.
#include <doctest/doctest.h>

#include "tests/unit/link/link_log.h"
#include "tests/unit/link/link_pairs.h"
#include "tests/unit/link/peer_process.h"

namespace gt::wire {
namespace {

LinkOptions impatient() {
  LinkOptions o;
  o.heartbeat_ms = 100;
  o.dead_ms = 300;
  o.grace_ms = 600;
  return o;
}

struct Client {
  PeerProcess peer;
  LinkLog log;
  std::unique_ptr<Link> link;
  SegmentId segment = 0;

  explicit Client(const std::string& scheme)
      : peer(scheme == "shm" ? "shm:" + scratch_folder() + "/peer" : "tcp://127.0.0.1:0") {
    auto made = connect(peer.url(), token_credentials(), patient(impatient()));
    REQUIRE_MESSAGE(made, made.status().text());
    link = std::move(*made);
    REQUIRE(link->start(log).ok());
    REQUIRE(log.wait_frames(1));
    segment = static_cast<SegmentId>(std::stoul(log.frames()[0]));
  }
  ~Client() { link.reset(); }
};

TEST_CASE("a peer that is killed closes the link at once, whatever is under way") {
  for (const char* scheme : {"shm", "tcp"}) {
    DOCTEST_SUBCASE(scheme) {
      for (const bool busy : {false, true}) {
        Client c(scheme);
        Bytes data(1 << 20);
        std::vector<Ticket> tickets;
        if (busy) {
          for (int i = 0; i < 50; ++i) tickets.push_back(c.link->put(data.data(), {c.segment, 0}, data.size(), 1));
          for (int i = 0; i < 50; ++i) tickets.push_back(c.link->get(data.data(), {c.segment, 0}, data.size()));
        }
        c.peer.kill(SIGKILL);
        CHECK(c.log.wait_closed(2));
        CHECK(c.link->is_closed());
        CHECK(c.link->test_all(tickets));
        CHECK(c.link->flush().kind() == Kind::Disconnected);
      }
    }
  }
}

TEST_CASE("a server that is stopped is given up, whatever it has taken") {
  for (const char* scheme : {"shm", "tcp"}) {
    DOCTEST_SUBCASE(scheme) {
      for (const bool asked : {false, true}) {
        Client c(scheme);
        c.peer.kill(SIGSTOP);
        if (asked) (void)say(*c.link, "anybody there?");
        CHECK(c.log.wait_closed(5));
      }
    }
  }
}

TEST_CASE("what stops both sides at once, for however long, ends nothing") {
  const uint32_t stopped_ms = 2 * patient(impatient()).grace_ms;
  for (const char* scheme : {"shm", "tcp"}) {
    DOCTEST_SUBCASE(scheme) {
      Client c(scheme);
      const pid_t us = ::getpid(), child = ::fork();
      if (child == 0) {
        c.peer.kill(SIGSTOP);
        ::kill(us, SIGSTOP);
        ::usleep(stopped_ms * 1000);
        c.peer.kill(SIGCONT);
        ::kill(us, SIGCONT);
        ::_exit(0);
      }
      REQUIRE(::waitpid(child, nullptr, 0) == child);
      CHECK_FALSE(c.log.wait_closed(1));
      REQUIRE(say(*c.link, "still here").ok());
      CHECK(c.log.wait_frames(2));
    }
  }
}

TEST_CASE("in the child of a fork the link is closed; the parent's goes on") {
  for (const char* scheme : {"shm", "tcp"}) {
    DOCTEST_SUBCASE(scheme) {
      Client c(scheme);
      const pid_t child = ::fork();
      if (child == 0) {
        char byte = 0;
        const bool right = c.link->is_closed() && !say(*c.link, "x").ok() && !c.link->flush().ok() &&
                           c.link->test(c.link->put(&byte, {c.segment, 0}, 1));
        c.link.reset();
        ::_exit(right ? 0 : 1);
      }
      int status = -1;
      REQUIRE(::waitpid(child, &status, 0) == child);
      CHECK(status == 0);
      REQUIRE(say(*c.link, "still here").ok());
      CHECK(c.log.wait_frames(2));
    }
  }
}

}  // namespace
}  // namespace gt::wire
