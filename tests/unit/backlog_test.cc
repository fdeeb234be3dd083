// What waits for the collector: through the file or not, killed or not, the same records come in the same order.
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "tests/unit/own_spool.h"
#include "tests/unit/told_blocks.h"
#include "tracer/collect/backlog.h"
#include "tracer/collect/counted_calls.h"
#include "tracer/collect/packed_words.h"

using namespace gt::tracer;

namespace {

constexpr uint64_t RingBytes = 8192;
constexpr Backlog::Amounts Small{.begin = RingBytes / 2, .keep = RingBytes / 2, .piece = RingBytes / 4};
constexpr uint64_t Plenty = 1 << 30;

OwnSpool& fixture() {
  static OwnSpool spool({.ring_bytes = RingBytes, .ring_count = 1024, .most_backlog = 4096 * RingBytes});
  return spool;
}

// Where a file may be made; it is gone when the test is over.
struct FilePlace {
  std::string path = (std::filesystem::temp_directory_path() / ("backlog-" + std::to_string(getpid()))).string();
  ~FilePlace() { std::filesystem::remove(path); }
};

struct Listener {
  Hearer heard;
  uint64_t ended = 0;
  PieceVisitor visitor() {
    return {std::ref(heard), [this](uint32_t ring, const RingHeader&, const CallCounts*) {
              ++ended;
              heard.bases.erase(ring);
              heard.forms.erase(ring);
            }};
  }
};

bool is_suffix(const std::vector<Told>& end, const std::vector<Told>& all) {
  return end.size() <= all.size() && std::equal(end.rbegin(), end.rend(), all.rbegin());
}

}  // namespace

TEST_CASE("words of any content come back as they were") {
  std::mt19937_64 random(1);
  for (const size_t count : {0, 1, 2, 63, 64, 65, 1000, 20'000}) {
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<uint64_t> words(count);
      uint64_t last = 0;
      for (uint64_t& w : words) {
        if (kind == 0) w = random();
        const auto form = static_cast<uint32_t>(random() % 3);
        if (kind == 1) w = block_word(BlockTag::Made, form, (1 + random() % 1000) * 16, random() % 1000);
        if (kind == 2) w = last += (uint64_t{1} << 27) + 2048;
        if (kind == 3) w = random() % 50 ? 7 : random() >> random() % 64;
      }
      gt::Bytes packed;
      pack_words(words, packed);
      std::vector<uint64_t> back;
      REQUIRE(unpack_words(packed, count, back));
      CHECK((back == words));
      for (int i = 0; i < 200 && !packed.empty(); ++i) {  // nothing more than wrong words comes of damage
        gt::Bytes damaged(packed.begin(), packed.end() - static_cast<std::ptrdiff_t>(random() % packed.size()));
        if (!damaged.empty()) damaged[random() % damaged.size()] ^= static_cast<uint8_t>(1 + random() % 255);
        if (unpack_words(damaged, count, back)) CHECK(back.size() == count);
      }
    }
  }
}

namespace {

// All that a piece gives, as text.
std::string heard_of(gt::ByteView piece) {
  std::string text;
  PieceVisitor visitor;
  visitor.record = [&](const RecordView& r) {
    const RecordHeader& h = r.header;
    for (const uint64_t v : {uint64_t{h.bytes}, static_cast<uint64_t>(h.type), uint64_t{h.fn}, h.ticks,
                             uint64_t{r.ring}, r.first_call, r.calls, static_cast<uint64_t>(r.owner->tid)})
      text += std::to_string(v) + " ";
    text.append(r.payload.begin(), r.payload.end());
  };
  visitor.ring_ended = [&](uint32_t ring, const RingHeader& header, const CallCounts* counts) {
    text += "ended " + std::to_string(ring) + " " + std::to_string(header.base);
    if (counts) text += " counted " + std::to_string(counts->others.calls.load());
  };
  PieceReader reader;
  if (!reader.open(piece).ok()) return "not open";
  if (!reader.give(visitor)) text += " damaged";
  return text;
}

}  // namespace

TEST_CASE("a piece gives every kind of record as it was, and survives damage") {
  std::mt19937_64 random(3);
  RingHeader owner;
  owner.tid = 77;
  owner.base = 5;
  const auto counts = std::make_unique<CallCounts>();
  counts->others.calls = 9;
  const uint64_t payload[] = {1, 2, 3};
  const gt::ByteView bytes(reinterpret_cast<const uint8_t*>(payload), sizeof payload);
  PieceWriter writer;
  writer.add({{40, RecordType::Allocate, 3, 1000}, bytes, 2, &owner});
  writer.add({{24, RecordType::Blocks, 0, 1001}, bytes, 2, &owner});
  writer.add({{96, RecordType::Repeat, 3, 1002}, bytes, 2, &owner, 7, 11});
  writer.add({{21, RecordType::Chunk, 0, 1003}, bytes.first(5), 2, &owner});
  writer.ring_ended(2, owner, counts.get());
  owner.tid = 78;
  writer.add({{16, RecordType::ThreadEnd, 0, 1004}, {}, 2, &owner});
  writer.ring_ended(2, owner, nullptr);
  gt::Bytes piece;
  const RingReader::Place places[] = {{1, 2, 3}, {}, {4, 5, 6}};
  writer.take(places, 5, piece);
  const std::string words(bytes.begin(), bytes.end());
  const auto type = [](RecordType t) { return std::to_string(static_cast<int>(t)); };
  std::string expected = "40 " + type(RecordType::Allocate) + " 3 1000 2 0 0 77 " + words;
  expected += "24 " + type(RecordType::Blocks) + " 0 1001 2 0 0 77 " + words;
  expected += "96 " + type(RecordType::Repeat) + " 3 1002 2 7 11 77 " + words;
  expected += "21 " + type(RecordType::Chunk) + " 0 1003 2 0 0 77 " + words.substr(0, 5) + "ended 2 5 counted 9";
  expected += "16 " + type(RecordType::ThreadEnd) + " 0 1004 2 0 0 78 ended 2 5";
  CHECK((heard_of(piece) == expected));
  PieceReader reader;
  REQUIRE(reader.open(piece).ok());
  CHECK(reader.head().records == 5);
  CHECK(reader.places().size() == 3);
  CHECK(reader.places()[2].ticks == 6);
  for (size_t length = 0; length < piece.size(); length += 1 + random() % 7)
    CHECK(heard_of(gt::ByteView(piece).first(length)) == "not open");
  for (int i = 0; i < 2000; ++i) {
    gt::Bytes damaged = piece;
    for (int n = 0; n < 3; ++n) damaged[random() % damaged.size()] ^= static_cast<uint8_t>(1 + random() % 255);
    CHECK(!heard_of(damaged).empty());
  }
}

TEST_CASE("what has gone through the file is what was told") {
  OwnSpool& f = fixture();
  const FilePlace place;
  Listener listener;
  Backlog backlog(f.reader, listener.visitor());
  backlog.spill_to(place.path, Plenty, Small);
  std::mt19937_64 random(7);
  std::vector<Told> told;
  uint64_t others = 0;
  for (int i = 0; i < 60'000; ++i) {
    told.push_back(tell(random));
    if (random() % 100 == 0) record(RecordType::Release, 0x8000, ticks(), uint64_t(i)), ++others;
    if (i % 1000 == 0) backlog.take(500);
    if (i == 40'000) {  // all of it, and directly for a while
      while (backlog.take() > 0) {
      }
      CHECK(f.reader.header().spill_end == 0);
      CHECK(backlog.waiting_bytes() == 0);
    }
  }
  CHECK(f.reader.header().spill_end > 0);
  CHECK(std::filesystem::exists(place.path));
  backlog.take_all();
  CHECK((listener.heard.calls == told));
  CHECK(listener.heard.others == others);
  CHECK(backlog.spilled_bytes() > told.size() * 4);
  CHECK(backlog.lost_pieces() == 0);
  CHECK(backlog.trouble().ok());
  CHECK(backlog.waiting_bytes() == 0);
  CHECK(f.reader.damaged_rings() == 0);
  backlog.remove_file();
  CHECK(!std::filesystem::exists(place.path));
}

TEST_CASE("threads that hand blocks to each other are heard in causal order, and when they have ended") {
  OwnSpool& f = fixture();
  const FilePlace place;
  Listener listener;
  Backlog backlog(f.reader, listener.visitor());
  backlog.spill_to(place.path, Plenty, Small);
  constexpr uint64_t PerThread = 20'000;
  constexpr int Threads = 4, Rounds = 3;  // later threads have the rings of earlier ones
  std::atomic<uint64_t> baton{1};
  for (int round = 0; round < Rounds; ++round) {
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
    while (running > 0) backlog.take(1000);
    for (auto& t : threads) t.join();
    backlog.take(1000);
  }
  while (backlog.take(1000) > 0) {
  }
  backlog.take_all();
  const std::vector<Told>& calls = listener.heard.calls;
  REQUIRE(calls.size() == Rounds * PerThread * Threads);
  uint64_t disorder = 0;
  for (size_t i = 0; i < calls.size(); ++i) disorder += calls[i].address / 16 > i + 1;
  CHECK(disorder == 0);
  CHECK(listener.ended == Rounds * Threads);
  CHECK(backlog.spilled_bytes() > 0);
  CHECK(f.reader.damaged_rings() == 0);
  CHECK(backlog.lost_pieces() == 0);
}

TEST_CASE("where there is no room, or no longer, the rest waits in the rings") {
  OwnSpool& f = fixture();
  const FilePlace place;
  for (const bool possible : {true, false}) {
    Listener listener;
    Backlog backlog(f.reader, listener.visitor());
    backlog.spill_to(possible ? place.path : "/nowhere/at/all", possible ? 3 * RingBytes : Plenty, Small);
    std::mt19937_64 random(9);
    std::vector<Told> told;
    std::atomic<bool> over{false};
    std::thread writer([&] {
      for (int i = 0; i < 200'000; ++i) told.push_back(tell(random));
      over = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    while (!over) backlog.take(100);
    writer.join();
    backlog.take_all();
    CHECK((listener.heard.calls == told));
    CHECK(!backlog.trouble().ok());
    CHECK((backlog.spilled_bytes() > 0));
    CHECK(backlog.lost_pieces() == 0);
    if (possible) CHECK(std::filesystem::file_size(place.path) == 0);
    backlog.take();
  }
}

namespace {

// What a collector in a process of its own has heard before it was killed.
struct Killed {
  std::atomic<uint64_t> heard{0};
  std::atomic<bool> runs{false};
};

Killed& shared_count() {
  static auto* const at = new (mmap(nullptr, sizeof(Killed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
      Killed();
  return *at;
}

pid_t start_collector(SpoolReader& reader, const FilePlace& place, uint64_t portion) {
  Killed& killed = shared_count();
  killed.runs = false;
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const RecordVisitor count = [&](const RecordView& r) {
    if (r.header.type != RecordType::Blocks) return;
    for (size_t i = 0; i < r.payload.size() / 8; ++i) killed.heard += is_block_call(tag_of(word(r, i)));
  };
  Backlog backlog(reader, {count, [](uint32_t, const RingHeader&, const CallCounts*) {}});
  backlog.spill_to(place.path, Plenty, Small);
  killed.runs = true;
  for (;;) backlog.take(portion);
}

// Threads that come and go, one at a time, so that what they tell has one order.
void tell_by_turns(std::mt19937_64& random, int calls, std::vector<Told>& told) {
  std::thread([&] {
    for (int i = 0; i < calls; ++i) told.push_back(tell(random));
  }).join();
}

}  // namespace

TEST_CASE("a collector that is killed leaves all that it has not given, in the file and in the rings") {
  OwnSpool& f = fixture();
  const FilePlace place;
  std::mt19937_64 random(11);
  uint64_t from_file = 0;
  for (int round = 0; round < 30; ++round) {
    f.reader.read([](const RecordView&) {}, true);
    f.reader.recycle([](uint32_t) {});
    shared_count().heard = 0;
    const pid_t collector = start_collector(f.reader, place, round % 3 == 0 ? 1 : 300);
    while (!shared_count().runs) std::this_thread::yield();
    std::vector<Told> told;
    std::atomic<bool> killed{false};
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
      kill(collector, SIGKILL);
      waitpid(collector, nullptr, 0);
      killed = true;
    });
    std::mt19937_64 what(static_cast<uint64_t>(round));
    while (!killed) tell_by_turns(what, 700, told);
    killer.join();
    tell_by_turns(what, 700, told);
    from_file += f.reader.header().spill_end > 0;
    {
      auto late = SpoolReader::open(f.reader.path());
      REQUIRE(late.ok());
      Listener listener;
      Backlog rest(*late, listener.visitor());
      rest.recover();
      rest.take_all();
      CHECK(late->damaged_rings() == 0);
      CHECK(rest.lost_pieces() == 0);
      CHECK(is_suffix(listener.heard.calls, told));
      CHECK(listener.heard.calls.size() + shared_count().heard >= told.size());
      late->recycle([](uint32_t) {});
    }
    // The fixture's reader goes on where that one has stopped.
    auto again = SpoolReader::open(f.reader.path());
    REQUIRE(again.ok());
    f.reader.~SpoolReader();
    new (&f.reader) SpoolReader(std::move(*again));
  }
  CHECK(from_file > 5);
}

TEST_CASE("a file that a damaged spool names is left alone when it holds no pieces") {
  OwnSpool& f = fixture();
  const FilePlace place;
  const std::string text(100'000, 'x');
  std::ofstream(place.path) << text;
  SpoolHeader& header = f.reader.header();
  for (const uint64_t end : {uint64_t{0}, uint64_t{50'000}}) {
    std::strncpy(header.spill_path, place.path.c_str(), sizeof header.spill_path - 1);
    header.spill_begin = 0;
    header.spill_end = end;
    Listener listener;
    Backlog rest(f.reader, listener.visitor());
    rest.recover();
    rest.take();
    rest.take_all();
    rest.remove_file();
    CHECK(rest.lost_pieces() == (end > 0 ? 1 : 0));
    std::ifstream in(place.path);
    CHECK((std::string(std::istreambuf_iterator<char>(in), {}) == text));
  }
  header.spill_path[0] = '\0';
  header.spill_end = 0;
}
