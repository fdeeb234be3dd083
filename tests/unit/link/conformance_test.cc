// What every link promises (transport/link/base/link.h), for every link.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "tests/random_bytes.h"
#include "tests/unit/link/started.h"
#include "traces/base/clock.h"
#include "transport/link/local_link.h"

namespace gt::wire {
namespace {

Bytes pattern(size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes out(bytes);
  testing::randomize(random, out);
  return out;
}

TEST_CASE("frames arrive in order, whoever sends them with more to follow") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    for (int i = 0; i < 3000; ++i) REQUIRE(say(s.a(), std::to_string(i), i % 3 != 0).ok());
    REQUIRE(s.a().push().ok());
    REQUIRE(s.at_b.wait_frames(3000));
    const auto frames = s.at_b.frames();
    for (int i = 0; i < 3000; ++i) REQUIRE(frames[static_cast<size_t>(i)] == std::to_string(i));
  }
}

TEST_CASE("a frame that was held back arrives without a push") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    REQUIRE(say(s.a(), "held", true).ok());
    CHECK(s.at_b.wait_frames(1));
  }
}

TEST_CASE("frames of every size arrive whole; larger ones are refused") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    const Bytes all = pattern(LargestFrame + 1, 3);
    const size_t sizes[] = {0, 1, 31, 4096, 65536, 100'000, LargestFrame};
    for (const size_t n : sizes) {
      const ByteView parts[] = {ByteView(all).first(n / 2), ByteView(all).subspan(n / 2, n - n / 2)};
      REQUIRE(s.a().send(parts).ok());
    }
    const ByteView too_large[] = {all};
    CHECK(s.a().send(too_large).kind() == Kind::Invalid);
    REQUIRE(s.at_b.wait_frames(std::size(sizes)));
    const auto frames = s.at_b.frames();
    for (size_t i = 0; i < std::size(sizes); ++i) CHECK(frames[i] == as_text(ByteView(all).first(sizes[i])));
  }
}

TEST_CASE("handlers answer, and answers are answered") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    s.at_b.on_each_frame([&](ByteView f) { REQUIRE(say(s.b(), std::string(as_text(f)) + "!").ok()); });
    s.at_a.on_each_frame([&](ByteView f) {
      if (f.size() < 20) REQUIRE(say(s.a(), std::string(as_text(f)) + "?").ok());
    });
    REQUIRE(say(s.a(), "hello").ok());
    CHECK(s.at_a.wait_frames(8));
    CHECK(s.at_a.frames().back() == "hello!?!?!?!?!?!?!?!");
  }
}

TEST_CASE("a flood in both directions that is answered by handlers does not block") {
  FOR_EACH_LINK(kind) {
    if (kind.delay_us > 1000) continue;
    Started s(kind);
    const std::string text(10'000, 'x');
    s.at_b.on_each_frame([&](ByteView) { (void)say(s.b(), text); });
    for (int i = 0; i < 2000; ++i) REQUIRE(say(s.a(), text).ok());
    CHECK(s.at_a.wait_frames(2000, 60));
  }
}

TEST_CASE("several threads send at once, each in its order") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) (void)say(s.a(), std::to_string(t) + " " + std::to_string(i), i % 7 != 0);
      });
    }
    for (std::thread& t : threads) t.join();
    REQUIRE(s.a().push().ok());
    REQUIRE(s.at_b.wait_frames(2000));
    int next[4] = {};
    for (const std::string& f : s.at_b.frames()) CHECK(std::stoi(f.substr(2)) == next[f[0] - '0']++);
  }
}

TEST_CASE("puts and gets of every size, inside segments") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    const size_t size = size_t{3} << 20;
    Bytes there(size), back(size);
    const Bytes here = pattern(size, 5);
    const SegmentId segment = *s.b().expose(there.data(), size);
    for (const size_t n : {size_t{1}, size_t{511}, size_t{4097}, size_t{300'000}, size - 7}) {
      REQUIRE(s.a().wait(s.a().put(here.data(), {segment, 7}, n)).ok());
      CHECK(std::equal(here.begin(), here.begin() + static_cast<long>(n), there.begin() + 7));
      REQUIRE(s.a().wait(s.a().get(back.data(), {segment, 7}, n)).ok());
      CHECK(std::equal(here.begin(), here.begin() + static_cast<long>(n), back.begin()));
    }
    CHECK(s.a().test(s.a().put(here.data(), {segment, 0}, 0)));
    REQUIRE(s.b().withdraw(segment).ok());
    CHECK(s.b().withdraw(segment).kind() == Kind::Invalid);
  }
}

TEST_CASE("notices come in the order of the puts, after their bytes") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    const size_t slot = 70'000, slots = 40;
    Bytes there(slot * slots);
    const Bytes here = pattern(slot * slots, 9);
    const SegmentId segment = *s.b().expose(there.data(), there.size());
    std::atomic<size_t> wrong{0};
    s.at_b.on_each_put([&](Notice n, size_t bytes) {
      wrong += std::memcmp(there.data() + n * slot, here.data() + n * slot, bytes) != 0;
    });
    std::vector<Ticket> tickets;
    for (size_t i = 0; i < slots; ++i)
      tickets.push_back(s.a().put(here.data() + i * slot, {segment, i * slot}, i % 5 ? slot : 0, i));
    REQUIRE(s.a().wait_all(tickets).ok());
    CHECK(s.a().test_all(tickets));
    REQUIRE(s.at_b.wait_puts(slots));
    const auto puts = s.at_b.puts();
    for (size_t i = 0; i < slots; ++i) CHECK(puts[i] == std::pair<Notice, size_t>(i, i % 5 ? slot : 0));
    CHECK(wrong == 0);
  }
}

TEST_CASE("flush says that everything is over") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    Bytes there(1 << 20);
    const Bytes here = pattern(there.size(), 11);
    const SegmentId segment = *s.b().expose(there.data(), there.size());
    for (size_t at = 0; at < there.size(); at += 32768) s.a().put(here.data() + at, {segment, at}, 32768);
    REQUIRE(s.a().flush().ok());
    CHECK(there == here);
    Bytes back(there.size());
    for (size_t at = 0; at < there.size(); at += 65536) s.a().get(back.data() + at, {segment, at}, 65536);
    REQUIRE(s.a().flush().ok());
    CHECK(back == here);
  }
}

TEST_CASE("the pace of a large put is of its bytes, in less time than it took; or the link does not tell") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    Bytes there(size_t{8} << 20);
    const SegmentId segment = *s.b().expose(there.data(), there.size());
    const Bytes from = pattern(there.size(), 4);
    size_t told = 0;
    for (int i = 0; i < 20; ++i) {
      const uint64_t begin = monotonic_ns();
      const Ticket ticket = s.a().put(from.data(), {segment, 0}, from.size());
      const std::optional<Pace> pace = s.a().pace(ticket, from.size() / 4 * 3);
      const uint64_t took = monotonic_ns() - begin;
      REQUIRE(s.a().wait(ticket).ok());
      if (!pace) continue;
      ++told;
      CHECK(pace->bytes >= Link::LeastPaced / 4);
      CHECK(pace->bytes < from.size());
      CHECK(pace->ns > 0);
      CHECK(pace->ns < took);
    }
    CHECK(there == from);
    const std::string_view scheme = kind.scheme;
    CHECK((told > 0) == (scheme == "tcp" || scheme == "tls"));
    s.a().close();
    CHECK_FALSE(s.a().pace(1, 1));
  }
}

TEST_CASE("access outside of a segment ends the link, and harms nobody") {
  FOR_EACH_LINK(kind) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      Started s(kind);
      Bytes there(10'000, 0);
      char here[10'000] = {1};
      const SegmentId segment = *s.b().expose(there.data(), there.size());
      if (attempt == 0) s.a().put(here, {segment, 1}, sizeof here);
      if (attempt == 1) s.a().put(here, {segment + 1, 0}, 1);
      if (attempt == 2) s.a().get(here, {segment, ~uint64_t{0}}, 2);
      if (attempt == 3) s.a().put(here, {segment, uint64_t{1} << 63}, sizeof here, 1);
      if (attempt == 4) {
        REQUIRE(s.b().withdraw(segment).ok());
        s.a().get(here, {segment, 0}, 1);
      }
      CHECK(s.at_a.wait_closed());
      CHECK(s.at_b.wait_closed());
      CHECK(s.a().is_closed());
      CHECK_FALSE(say(s.b(), "late").ok());
      CHECK(std::count(there.begin(), there.end(), 1) == 0);
    }
  }
}

TEST_CASE("memory that the link allocates is zeroed, and seen by the peer where memory is shared") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    const size_t bytes = size_t{2} << 20;
    void* base = nullptr;
    const auto segment = s.b().allocate(bytes, &base);
    REQUIRE(segment);
    auto* const there = static_cast<char*>(base);
    CHECK(std::count(there, there + bytes, 0) == static_cast<long>(bytes));
    const Bytes here = pattern(bytes, 13);
    REQUIRE(s.a().wait(s.a().put(here.data(), {*segment, 0}, bytes)).ok());
    CHECK(std::memcmp(there, here.data(), bytes) == 0);
    if (auto* const view = static_cast<char*>(s.a().view({*segment, 100}, 10))) {
      view[0] = 'x';
      CHECK(there[100] == 'x');
      CHECK(s.a().view({*segment, bytes - 1}, 2) == nullptr);
      const auto address = s.b().shared_address(there + 5, 10);
      REQUIRE(address);
      CHECK(s.a().view(*address, 10) == view - 95);
    }
    Bytes back(bytes);
    REQUIRE(s.a().wait(s.a().get(back.data(), {*segment, 0}, bytes)).ok());
    CHECK(std::memcmp(there, back.data(), bytes) == 0);
    REQUIRE(s.b().withdraw(*segment).ok());
  }
}

TEST_CASE("who sees memory directly is told before it is withdrawn, and not again") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    void* base = nullptr;
    const SegmentId segment = *s.b().allocate(4096, &base);
    static_cast<char*>(base)[7] = 'x';
    const bool seen = s.a().view({segment, 0}, 4096) != nullptr;
    std::vector<std::pair<SegmentId, char>> told;
    s.at_a.on_each_withdrawal([&](SegmentId id) {
      const auto* const there = static_cast<char*>(s.a().view({id, 0}, 4096));
      told.emplace_back(id, there ? there[7] : 0);
    });
    REQUIRE(s.b().withdraw(segment).ok());
    CHECK(s.a().view({segment, 0}, 1) == nullptr);
    CHECK(s.b().withdraw(segment).kind() == Kind::Invalid);
    if (seen) {
      REQUIRE(told.size() == 1);
      CHECK(told[0] == std::pair<SegmentId, char>(segment, 'x'));
    } else {
      CHECK(told.empty());
    }
  }
}

TEST_CASE("who takes long to let go of memory is not taken for dead, and is heard meanwhile") {
  constexpr auto Long = std::chrono::milliseconds(3500);  // what is silent for 3 s is given up
  FOR_EACH_LINK(kind) {
    if (std::string_view(kind.scheme) != "shm") continue;
    Started s(kind);
    void* base = nullptr;
    const SegmentId segment = *s.b().allocate(4096, &base);
    std::atomic<bool> asked{false};
    s.at_a.on_each_withdrawal([&](SegmentId) {
      asked = true;
      std::this_thread::sleep_for(Long);
    });
    std::thread owner([&] { CHECK(s.b().withdraw(segment).ok()); });
    while (!asked) std::this_thread::yield();
    REQUIRE(say(s.a(), "there").ok());
    REQUIRE(say(s.b(), "back").ok());
    CHECK(s.at_b.wait_frames(1));
    CHECK(s.at_a.wait_frames(1));
    CHECK(s.a().view({segment, 0}, 1) != nullptr);
    owner.join();
    CHECK(s.a().view({segment, 0}, 1) == nullptr);
    CHECK_FALSE(s.a().is_closed());
    CHECK_FALSE(s.b().is_closed());
  }
}

TEST_CASE("segments of shared memory may overlap, and go one by one") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    constexpr size_t Page = 4096, Bytes = 16 * Page;
    const Fd file(::memfd_create("overlapping", MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(file.get(), Bytes) == 0);
    auto* const base = static_cast<char*>(::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
    REQUIRE(base != MAP_FAILED);
    const auto expose = [&](size_t page, size_t pages) {
      return *s.b().expose_shared(file.get(), page * Page, base + page * Page, pages * Page);
    };
    const auto there = [&](size_t page, size_t pages) -> char* {
      const auto address = s.b().shared_address(base + page * Page, pages * Page);
      return address ? static_cast<char*>(s.a().view(*address, pages * Page)) : nullptr;
    };
    const SegmentId all = expose(0, 12), inner = expose(4, 2), same_start = expose(4, 8), later = expose(10, 6);
    if (s.a().view({all, 0}, 1)) {
      for (const size_t page : {0, 3, 5, 9, 10, 13}) {
        base[page * Page] = static_cast<char>('a' + page);
        const char* const seen = there(page, 3);
        REQUIRE(seen != nullptr);
        CHECK(*seen == static_cast<char>('a' + page));
      }
      const auto across = s.b().shared_address(base + 9 * Page, 4 * Page);  // in none of them as a whole
      CHECK((!across || across->segment == WholeProcess));
    }
    for (const SegmentId segment : {all, inner, later}) REQUIRE(s.b().withdraw(segment).ok());
    if (s.a().view({same_start, 0}, 1)) CHECK(there(5, 7) != nullptr);
    REQUIRE(s.b().withdraw(same_start).ok());
    ::munmap(base, Bytes);
  }
}

TEST_CASE("puts from and gets into memory that is shared with a peer whose own is not") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    const size_t bytes = size_t{5} << 20;
    Bytes there(bytes);
    const SegmentId segment = *s.b().expose(there.data(), bytes);
    void* base = nullptr;
    REQUIRE(s.a().allocate(bytes, &base));
    const Bytes data = pattern(bytes, 17);
    std::memcpy(base, data.data(), bytes);
    const Ticket put = s.a().put(base, {segment, 0}, bytes, Notice{5});
    REQUIRE(s.a().wait(put).ok());
    CHECK(there == data);
    CHECK(s.at_b.wait_puts(1));
    std::memset(base, 0, bytes);
    REQUIRE(s.a().wait(s.a().get(base, {segment, 0}, bytes)).ok());
    CHECK(std::memcmp(base, data.data(), bytes) == 0);
  }
}

TEST_CASE("what was sent before close arrives, and calls afterwards say that the link is closed") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    Bytes there(400'000);
    const Bytes here = pattern(there.size(), 19);
    const SegmentId segment = *s.b().expose(there.data(), there.size());
    for (int i = 0; i < 200; ++i) REQUIRE(say(s.a(), std::to_string(i), true).ok());
    const Ticket ticket = s.a().put(here.data(), {segment, 0}, here.size(), Notice{1});
    s.a().close();
    CHECK(s.at_b.wait_closed());
    CHECK(s.at_b.frames().size() == 200);
    CHECK(s.at_b.puts().size() == 1);
    CHECK(there == here);
    CHECK(s.at_a.wait_closed());
    CHECK(say(s.a(), "late").kind() == Kind::Disconnected);
    CHECK(s.a().test(ticket));
    CHECK(s.a().wait(ticket).kind() == Kind::Disconnected);
    CHECK(s.a().flush().kind() == Kind::Disconnected);
    CHECK(s.b().is_closed());
  }
}

TEST_CASE("close while everybody is busy") {
  FOR_EACH_LINK(kind) {
    for (int round = 0; round < 3; ++round) {
      Started s(kind);
      Bytes there(1 << 20), here(1 << 20), back(1 << 20);
      const SegmentId segment = *s.b().expose(there.data(), there.size());
      const SegmentId other = *s.a().expose(back.data(), back.size());
      std::vector<std::thread> threads;
      threads.emplace_back([&] {
        while (say(s.a(), "to b", true).ok()) {
        }
      });
      threads.emplace_back([&] {
        while (say(s.b(), "to a").ok()) {
        }
      });
      threads.emplace_back([&] {
        while (s.a().wait(s.a().put(here.data(), {segment, 0}, 100'000)).ok()) {
        }
      });
      threads.emplace_back([&] {
        Bytes mine(200'000);
        while (s.b().wait(s.b().get(mine.data(), {other, 0}, mine.size())).ok()) {
        }
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + 10 * round));
      (round % 2 ? s.b() : s.a()).close();
      for (std::thread& t : threads) t.join();
      CHECK(s.at_a.wait_closed());
      CHECK(s.at_b.wait_closed());
    }
  }
}

TEST_CASE("a handler may close the link") {
  FOR_EACH_LINK(kind) {
    Started s(kind);
    s.at_b.on_each_frame([&](ByteView) { s.b().close(); });
    REQUIRE(say(s.a(), "end").ok());
    CHECK(s.at_a.wait_closed());
    CHECK(s.at_b.wait_closed());
  }
}

}  // namespace
}  // namespace gt::wire
