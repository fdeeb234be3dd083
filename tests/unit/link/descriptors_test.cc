// Links whose descriptors a program closes, and peers that say that they go.
#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/unit/link/link_log.h"
#include "tests/unit/link/link_pairs.h"

namespace gt::wire {
namespace {

constexpr int High = 500;  // descriptors of links are above; of the listeners and relays of these tests below

std::vector<int> high_descriptors() {
  std::vector<int> found;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* const entry = ::readdir(folder))
    if (const int fd = std::atoi(entry->d_name); fd >= High) found.push_back(fd);
  ::closedir(folder);
  return found;
}

struct Linked {
  LinkLog at_a, at_b;
  LinkPair pair;
  explicit Linked(const char* scheme, LinkOptions options = {})
      : pair(make_pair({scheme, scheme, std::strcmp(scheme, "shm") == 0 ? -1 : 0}, options)) {
    REQUIRE(pair.a->start(at_a).ok());
    REQUIRE(pair.b->start(at_b).ok());
  }
  ~Linked() {
    pair.a->close();
    pair.b->close();
    pair.a.reset();
    pair.b.reset();
  }
  void talk(int round) {
    const size_t n = static_cast<size_t>(round) + 1;
    for (Link* link : {pair.a.get(), pair.b.get()}) REQUIRE(say(*link, std::to_string(round)).ok());
    const bool both = at_a.wait_frames(n) && at_b.wait_frames(n);
    std::string ends;
    for (const LinkLog* log : {&at_a, &at_b})
      for (const std::string& end : const_cast<LinkLog*>(log)->ends()) ends += end + "; ";
    REQUIRE_MESSAGE(both, "round ", round, ", ends: ", ends);
  }
};

// With frames, puts, and memory that is made known and taken back after it.
TEST_CASE("a link goes on when all its descriptors are closed, again and again") {
  for (const char* scheme : {"tcp", "tls", "shm"}) {
    if (std::strcmp(scheme, "tls") == 0 && certificate_credentials().ca.empty()) continue;
    CAPTURE(std::string(scheme));
    Linked l(scheme);
    REQUIRE(high_descriptors().size() >= 4);
    Bytes there(100'000), here(100'000, 7);
    const SegmentId segment = *l.pair.b->expose(there.data(), there.size());
    for (int round = 0; round < 4; ++round) {
      for (const int fd : high_descriptors()) ::close(fd);
      std::fill(there.begin(), there.end(), uint8_t{0});
      l.talk(round);
      REQUIRE(l.pair.a->wait(l.pair.a->put(here.data(), {segment, 0}, here.size())).ok());
      CHECK(there == here);
      for (Link* link : {l.pair.a.get(), l.pair.b.get()}) {
        void* base = nullptr;
        const auto more = link->allocate(1 << 16, &base);
        REQUIRE_MESSAGE(more, more.status().text());
        if (round % 2)
          for (const int fd : high_descriptors()) ::close(fd);
        CHECK(link->withdraw(*more).ok());
      }
    }
    CHECK(l.at_a.ends().empty());
    CHECK(l.at_b.ends().empty());
  }
}

TEST_CASE("what has taken the places of a link's descriptors is neither read, written nor closed") {
  for (const char* scheme : {"tcp", "shm"}) {
    CAPTURE(std::string(scheme));
    Linked l(scheme);
    const int file = ::memfd_create("of the program", 0);
    REQUIRE(::write(file, "x", 1) == 1);
    const std::vector<int> taken = high_descriptors();
    for (const int fd : taken) REQUIRE(::dup2(file, fd) == fd);
    l.talk(0);
    l.pair.a->close();
    l.pair.b->close();
    l.pair.a.reset();
    l.pair.b.reset();
    struct stat about {};
    REQUIRE(::fstat(file, &about) == 0);
    CHECK(about.st_size == 1);
    for (const int fd : taken) {
      struct stat now {};
      CHECK(::fstat(fd, &now) == 0);
      CHECK(now.st_ino == about.st_ino);
      ::close(fd);
    }
    ::close(file);
    l.pair = make_pair({"tcp", "tcp"});  // for the end of this one
  }
}

TEST_CASE("a peer that has said that it goes is not waited for") {
  LinkOptions patient;
  patient.grace_ms = 60'000;
  Linked l("tcp", patient);
  l.pair.b->expect_end();
  l.talk(0);  // it goes on
  l.pair.relay->cut();
  CHECK(l.at_b.wait_closed());
  CHECK(l.at_a.ends().empty());  // who goes does not know, and looks for the peer
}

}  // namespace
}  // namespace gt::wire
