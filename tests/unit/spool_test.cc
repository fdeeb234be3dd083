// The spool from end to end in one process: several threads record, one reader takes everything, in
// order.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "tests/unit/own_spool.h"
#include "tests/unit/told_blocks.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/lib/block_recorder.h"
#include "tracer/lib/memory_ticks.h"
#include "tracer/lib/recorder.h"
#include "tracer/lib/ring_writer.h"

using namespace gt::tracer;

namespace {

constexpr uint16_t Fn = 0x8000;

OwnSpool& fixture() {
  constexpr uint64_t RingBytes = 8192;  // small: wraps and back-pressure all the time, and full segments
  static OwnSpool spool({.ring_bytes = RingBytes, .ring_count = 64, .most_backlog = 16 * RingBytes});
  return spool;
}

}  // namespace

TEST_CASE("what threads record is read whole and in causal order") {
  OwnSpool& f = fixture();
  REQUIRE(recording());
  constexpr uint64_t PerThread = 20'000;
  constexpr int Threads = 4;
  std::atomic<uint64_t> baton{
      0};  // each record takes a number: a later number was caused by the earlier ones
  std::atomic<int> running{Threads};
  std::vector<std::thread> threads;
  for (int t = 0; t < Threads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < PerThread; ++i) {
        const uint64_t seen = baton.load();
        record(RecordType::Release, Fn, ticks_after_loads(), uint64_t(t), i, seen);
        baton.fetch_add(1);
      }
      --running;
    });
  }
  std::map<uint64_t, uint64_t> next;
  uint64_t total = 0, seen_baton = 0, disorder = 0;
  const auto visit = [&](const RecordView& r) {
    if (r.header.type != RecordType::Release) return;
    ++total;
    if (word(r, 1) != next[word(r, 0)]++) ++disorder;
    // A record that saw baton b was caused by b records: at least as many were given before it.
    if (word(r, 2) + 1 > total) ++disorder;
    seen_baton = std::max(seen_baton, word(r, 2));
  };
  while (running > 0) f.reader.read(visit);
  for (auto& t : threads) t.join();
  f.reader.read(visit, true);
  CHECK(total == PerThread * Threads);
  CHECK(disorder == 0);
  CHECK(f.reader.damaged_rings() == 0);
  int ended = 0;
  f.reader.recycle([&](uint32_t) { ++ended; });
  CHECK(ended == Threads);
}

TEST_CASE("block words say what was told, whatever lies between them") {
  OwnSpool& f = fixture();
  std::mt19937_64 random(7);
  std::vector<Told> told;
  Hearer heard;
  uint64_t others = 0;
  for (int i = 0; i < 50'000; ++i) {
    told.push_back(tell(random));
    if (random() % 100 == 0) record(RecordType::Release, Fn, ticks(), uint64_t(i)), ++others;
    if (i % 1000 == 0) f.reader.read(std::ref(heard));  // later it would wait for us
  }
  f.reader.read(std::ref(heard), true);
  CHECK((heard.calls == told));
  CHECK(heard.others == others);
  CHECK(f.reader.damaged_rings() == 0);
}

TEST_CASE("block words of threads that hand blocks to each other are given in causal order") {
  OwnSpool& f = fixture();
  constexpr uint64_t PerThread = 20'000;
  constexpr int Threads = 4;
  std::atomic<uint64_t> baton{1};
  std::atomic<int> running{Threads};
  std::vector<std::thread> threads;
  for (int t = 0; t < Threads; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < PerThread; ++i) {
        const uint64_t seen = baton.load();
        record_block(BlockTag::Freed, gt::api::AllocFn::Free, 0x401000, seen * 16);
        baton.fetch_add(1);
      }
      --running;
    });
  }
  Hearer heard;
  while (running > 0) f.reader.read(std::ref(heard));
  for (auto& t : threads) t.join();
  f.reader.read(std::ref(heard), true);
  REQUIRE(heard.calls.size() == PerThread * Threads);
  uint64_t disorder = 0, most = 0;
  for (size_t i = 0; i < heard.calls.size(); ++i) {
    const uint64_t seen = heard.calls[i].address / 16;
    disorder += seen > i + 1;  // caused by that many calls, all given before it
    most = std::max(most, seen);
  }
  CHECK(disorder == 0);
  CHECK(most > PerThread);
  f.reader.recycle([](uint32_t) {});
  CHECK(f.reader.damaged_rings() == 0);
}

TEST_CASE("a thread that has filled all memory goes on when a part of it is free again") {
  OwnSpool& f = fixture();
  constexpr uint64_t RingBytes = 8192, Calls = 40 * RingBytes / 8;  // more than a ring and all segments hold
  std::atomic<uint64_t> written{0};
  std::thread writer([&] {
    for (uint64_t i = 1; i <= Calls; ++i) {
      record_block(BlockTag::Freed, gt::api::AllocFn::Free, 0x401000, (i * i % 100'000 + 1) * 16);
      written.store(i);
    }
  });
  const auto stands_still = [&] {
    uint64_t before = 0;
    do {
      before = written.load();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } while (before != written.load() || before == 0);
    return before;
  };
  const uint64_t full = stands_still();
  REQUIRE(full < Calls);
  Hearer heard;
  while (heard.calls.size() < full / 4) f.reader.read(std::ref(heard), false, RingBytes / 8);
  REQUIRE(heard.calls.size() < full / 2);
  const uint64_t later = stands_still();
  CHECK(later > full);
  CHECK(later - full <= heard.calls.size() + RingBytes / 8);
  while (written < Calls) f.reader.read(std::ref(heard));
  writer.join();
  f.reader.read(std::ref(heard), true);
  CHECK(heard.calls.size() == Calls);
  f.reader.recycle([](uint32_t) {});
}

TEST_CASE("a long byte string travels in chunks") {
  OwnSpool& f = fixture();
  std::string text(3000, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  REQUIRE(this_ring() != nullptr);
  record_chunks(text.data(), text.size());
  std::string got;
  bool last = false;
  f.reader.read(
      [&](const RecordView& r) {
        if (r.header.type != RecordType::Chunk) return;
        last = word(r, 0);
        got.append(reinterpret_cast<const char*>(r.payload.data() + 16), word(r, 1));
      },
      true);
  CHECK(last);
  CHECK(got == text);
}

TEST_CASE("records damaged in any byte end their ring and crash nobody") {
  SpoolReader::Options options;
  options.ring_bytes = 4096;
  options.ring_count = 2;
  for (int byte = 0; byte < 16; ++byte) {
    auto fresh = SpoolReader::create(options);
    REQUIRE(fresh.ok());
    // Ring 0 by hand: 20 records of 32 bytes, the eleventh damaged.
    auto* ring = const_cast<RingHeader*>(&fresh->ring(0));
    auto* data = reinterpret_cast<uint8_t*>(ring) + PageBytes;
    fresh->header().rings_used = 1;
    for (int i = 0; i < 20; ++i) {
      const RecordHeader header{32, RecordType::Release, Fn, static_cast<uint64_t>(i)};
      std::memcpy(data + i * 32, &header, sizeof header);
    }
    data[10 * 32 + byte] ^= 0xa5;
    ring->head.store(640);
    uint64_t given = 0;
    fresh->read([&](const RecordView& r) { given += r.payload.size() < 4096; }, true);
    CHECK(given >= 10);
    fresh->remove();
  }
}

TEST_CASE("a spool cut at any length is refused, or gives the rings that are whole") {
  SpoolReader::Options options;
  options.ring_bytes = 4096;
  options.ring_count = 2;
  auto fresh = SpoolReader::create(options);
  REQUIRE(fresh.ok());
  fresh->header().rings_used = 2;
  constexpr uint64_t Records = 20;
  for (uint32_t r = 0; r < 2; ++r) {
    auto* ring = const_cast<RingHeader*>(&fresh->ring(r));
    for (uint64_t i = 0; i < Records; ++i) {
      const RecordHeader header{32, RecordType::Release, Fn, i};
      std::memcpy(reinterpret_cast<uint8_t*>(ring) + PageBytes + i * 32, &header, sizeof header);
    }
    ring->head.store(Records * 32);
  }
  const std::string path = fresh->path() + "-cut";
  std::filesystem::copy_file(fresh->path(), path);
  for (uint64_t length = spool_bytes(4096, 2);; --length) {
    std::filesystem::resize_file(path, length);
    auto cut = SpoolReader::open(path);
    const uint64_t whole = length < PageBytes ? 0 : (length - PageBytes) / (PageBytes + 4096);
    REQUIRE(cut.ok() == (length >= PageBytes));
    if (!cut) {
      CHECK(cut.status().kind() == gt::Kind::Corrupt);
    } else {
      uint64_t given = 0;
      cut->read([&](const RecordView&) { ++given; }, true);
      CHECK(given == whole * Records);
      CHECK(cut->damaged_rings() == 2 - whole);
      for (uint32_t r = 0; r < whole; ++r) const_cast<RingHeader&>(cut->ring(r)).tail = 0;  // to be read again
    }
    if (length == 0) break;
  }
  std::filesystem::remove(path);
  fresh->remove();
}

TEST_CASE("memory ticks grow, never run ahead of the clock, and are read unless the thread is alone") {
  if (!TicksAreShort) return;
  SpoolHeader spool;
  SpoolHeader* const before = std::exchange(detail::g_spool, &spool);
  RingHeader header;
  Ring ring;
  ring.header = &header;
  ring.position = 8;
  uint64_t last = 0;
  uint32_t read = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t begin = ticks(), t = memory_ticks(ring);
    CHECK(t > last);
    CHECK(t <= ticks());
    read += t >= begin;
    ring.clock.position = ring.position;
    last = t;
  }
  // Those until it tries to be alone, and then now and then.
  CHECK(read <= Solitude::FirstWait + 1000 / MemoryClock::ReadEvery + 1);
  ring.position += 8;  // another record came in between
  uint64_t now = ticks();
  CHECK(memory_ticks(ring) >= now);
  ring.clock.position = ring.position;
  Ring other;
  other.index = 1;
  look_around(spool, other, ticks());
  CHECK(spool.alone == Crowd);
  for (uint32_t i = 0; i < Solitude::FirstWait; ++i) {
    now = ticks();
    CHECK(memory_ticks(ring) >= now);
  }
  detail::g_spool = before;
}

// The last test: the fixture's reader does not know of what this one takes.
TEST_CASE("a reader that takes over where another one stopped hears the rest") {
  OwnSpool& f = fixture();
  std::mt19937_64 random(11);
  std::vector<Told> told;
  Hearer first, second;
  for (int i = 0; i < 600; ++i) told.push_back(tell(random));
  f.reader.read(std::ref(first), true);
  const size_t taken = first.calls.size();
  for (int i = 0; i < 1000; ++i) told.push_back(tell(random));  // more than a ring: some lie in segments
  auto late = SpoolReader::open(f.reader.path());
  REQUIRE(late.ok());
  late->read(std::ref(second), true);
  CHECK(late->damaged_rings() == 0);
  told.erase(told.begin(), told.begin() + static_cast<std::ptrdiff_t>(taken));
  REQUIRE(told.size() == second.calls.size());
  CHECK((told == second.calls));
}
